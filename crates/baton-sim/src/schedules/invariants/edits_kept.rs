//! A leader undoes nothing that people have asked for, and claims nothing in a pause.

use crate::schedules::commit::{Author, Change, has_run};
use crate::schedules::fact::Fact;

/// Looks at each change of a schedule.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    let Fact::Committed(commit) = fact else { return Ok(()) };
    commit.changes.iter().try_for_each(|change| match change.author {
        Author::Leader { .. } => by_leader(change),
        Author::Person { wall_ms } => by_person(change, wall_ms),
    })
}

fn by_leader(change: &Change<'_>) -> Result<(), String> {
    let (before, after, name) = (change.before, change.after, change.name());
    if after.revision < before.revision {
        let (old, new) = (before.revision, after.revision);
        return Err(format!("{name}: revision {old} was written over by {new}"));
    }
    if before.paused_ms != after.paused_ms {
        return Err(format!("{name}: a leader has changed the pause that a person asked for"));
    }
    let mut asked = before.waiting.iter().filter(|id| id.requested > 0);
    let is_kept = |id| after.waiting.contains(id) || has_run(&after.running, *id);
    if let Some(lost) = asked.find(|id| after.undeclared_ms.is_none() && !is_kept(id)) {
        return Err(format!("{name}: the run {lost:?} that a person asked for is lost"));
    }
    if before.paused_ms.is_none() {
        return Ok(());
    }
    if let Some(run) = change.claimed().find(|run| run.id.requested == 0) {
        return Err(format!("{name}: {run:?} is claimed in a pause"));
    }
    match change.admitted().next() {
        Some(slot) => Err(format!("{name}: {slot:?} is decided on in a pause")),
        None => Ok(()),
    }
}

/// What ends a pause owes none of its slots.
fn by_person(change: &Change<'_>, wall_ms: u64) -> Result<(), String> {
    let (before, after, name) = (change.before, change.after, change.name());
    let is_resumed = before.paused_ms.is_some() && after.paused_ms.is_none();
    if is_resumed && after.last.at_ms < wall_ms {
        let owed_ms = wall_ms - after.last.at_ms;
        return Err(format!("{name}: {owed_ms} ms of a pause are owed after it"));
    }
    if change.claimed().next().is_some() || change.finished().next().is_some() {
        return Err(format!("{name}: a person's edit has changed what runs"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::invariants::testing::{
        START_MS, commit, entry, leader, run, schedule, slot,
    };

    #[test]
    fn a_claim_in_a_pause_and_an_edit_that_is_undone_fire() {
        let tick = schedule(|_| {});
        let mut paused = entry(&tick);
        paused.pause(START_MS).expect("it is not");
        let mut claimed = paused.clone();
        claimed.last = slot(1);
        claimed.running.push(run(1, 1));
        assert!(commit(&mut check, (&paused, &claimed), leader(1_000)).is_err());
        let undone = entry(&tick);
        assert!(commit(&mut check, (&paused, &undone), leader(1_000)).is_err());
        let mut asked = undone.clone();
        let id = asked.request(START_MS).expect("it may");
        let mut lost = asked.clone();
        lost.waiting.clear();
        assert!(commit(&mut check, (&asked, &lost), leader(0)).is_err());
        lost.running.push(baton_core::schedule::ActiveRun { id, ..run(0, 1) });
        assert!(commit(&mut check, (&asked, &lost), leader(0)).is_ok());
    }

    #[test]
    fn slots_of_a_pause_that_are_owed_after_it_fire() {
        let tick = schedule(|_| {});
        let mut paused = entry(&tick);
        paused.pause(START_MS).expect("it is not");
        let author = Author::Person { wall_ms: START_MS + 5_000 };
        let mut resumed = paused.clone();
        resumed.resume(&tick, START_MS + 5_000).expect("it is paused");
        assert!(commit(&mut check, (&paused, &resumed), author).is_ok());
        resumed.last = paused.last;
        assert!(commit(&mut check, (&paused, &resumed), author).is_err());
    }
}

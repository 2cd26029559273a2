//! What must hold, and what has to be remembered to see it. All of it makes up promise S9.

use baton_core::ids::Epoch;
use baton_core::schedule::OnCrash;
use baton_core::schedule::once::{
    OnceCause, OnceClaim, OnceEnd, OnceFailure, OnceRecord, OnceState, OnceWrite,
};
use serde::Serialize;

use super::state::Store;

/// A promise that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    pub invariant: &'static str,
    pub what: String,
}

/// Fails with this, unless it holds.
fn must(holds: bool, invariant: &'static str, what: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { invariant, what: what() }) }
}

/// What is remembered of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// How many failures were in the store before its first read was carried out. `None` before.
    failures: Option<usize>,
    /// It has waited for a run that is over for it, so it may not start one.
    barred: bool,
}

/// What is remembered of all.
#[derive(Clone, Debug, Hash)]
pub struct Witness {
    on_crash: OnCrash,
    /// The attempt that was started last.
    started: u32,
    /// In which slot work runs.
    running: Option<usize>,
    /// The failures that were ever in the store.
    failures: Vec<OnceFailure>,
}

impl Witness {
    /// Nothing has happened.
    pub fn new(on_crash: OnCrash) -> Self {
        Self { on_crash, started: 0, running: None, failures: Vec::new() }
    }

    /// What becomes of a run that was cut off.
    pub fn on_crash(&self) -> OnCrash {
        self.on_crash
    }

    /// The first read of a process was carried out: it waits from now on.
    pub fn began(&self, seen: &mut Seen, store: &Store) {
        seen.failures = Some(self.failures.len());
        let runs = |it: &OnceRecord| {
            matches!(it.state, OnceState::Running(_)) && it.attempt == self.started
        };
        seen.barred = self.on_crash == OnCrash::Skip && store.record.as_ref().is_some_and(runs);
    }

    /// A process starts the work.
    pub fn starts<'a>(
        &mut self,
        slot: usize,
        claim: &OnceClaim,
        store: &Store,
        all: impl Iterator<Item = (usize, &'a mut Seen)>,
    ) -> Result<(), Broken> {
        let attempt = claim.attempt();
        must(self.running.is_none(), "one_at_a_time", || {
            format!("n{slot} starts attempt {attempt} while n{:?} runs one", self.running)
        })?;
        let record = store.record.as_ref();
        let is_done = record.is_some_and(|it| matches!(it.state, OnceState::Succeeded(_)));
        must(!is_done, "success_kept", || {
            format!("n{slot} starts attempt {attempt}, although the work is done")
        })?;
        let is_claimed = record.is_some_and(|it| {
            let OnceState::Running(by) = &it.state else { return false };
            it.attempt == attempt && by.epoch == store.granted && store.version == claim.version()
        });
        must(is_claimed, "claimed_first", || {
            format!("n{slot} starts attempt {attempt}, and the store has {record:?}")
        })?;
        must(attempt > self.started, "attempts_rise", || {
            format!("n{slot} starts attempt {attempt} after attempt {}", self.started)
        })?;
        (self.started, self.running) = (attempt, Some(slot));
        for (other, seen) in all {
            must(other != slot || !seen.barred, "waiting_ends", || {
                format!("n{slot} starts attempt {attempt}, although it waited for one that is over")
            })?;
            // Whatever becomes of this run, it is the last one for those that wait now.
            seen.barred |= self.on_crash == OnCrash::Skip && seen.failures.is_some();
        }
        Ok(())
    }

    /// Work of a process has ended, or was stopped.
    pub fn stops(&mut self, slot: usize) {
        self.running = self.running.filter(|running| *running != slot);
    }

    /// A write took place. `term` is the epoch of the term that lasts.
    pub fn landed<'a>(
        &mut self,
        (epoch, write): (Epoch, &OnceWrite),
        before: &Store,
        term: Option<Epoch>,
        all: impl Iterator<Item = &'a mut Seen>,
    ) -> Result<(), Broken> {
        let (granted, old, new) = (before.granted, &before.record, &write.record);
        must(epoch >= granted, "fenced", || {
            format!("epoch {epoch} has written after {granted} was granted")
        })?;
        let old_state = old.as_ref().map(|it| &it.state);
        let is_done = matches!(old_state, Some(OnceState::Succeeded(_)));
        must(!is_done, "success_kept", || format!("a success became {new:?}"))?;
        let cuts_off = match &new.state {
            OnceState::Running(_) => true,
            OnceState::Failed(failure) => failure.cause == OnceCause::Crash,
            OnceState::Succeeded(_) => false,
        };
        if let Some(OnceState::Running(running)) = old_state {
            must(!cuts_off || term != Some(running.epoch), "claim_kept", || {
                format!("a run counts as cut off, and its epoch {} lasts", running.epoch)
            })?;
        }
        if let OnceState::Failed(failure) = &new.state {
            self.failures.push(failure.clone());
            for seen in all {
                seen.barred |= seen.failures.is_some();
            }
        }
        Ok(())
    }

    /// A process ends with this outcome.
    pub fn ended(
        &self,
        slot: usize,
        seen: &Seen,
        end: &OnceEnd,
        store: &Store,
    ) -> Result<(), Broken> {
        let state = store.record.as_ref().map(|it| &it.state);
        let is_stored = match end {
            OnceEnd::Succeeded(success) => {
                matches!(state, Some(OnceState::Succeeded(stored)) if stored == success)
            }
            OnceEnd::Failed(failure) => {
                self.failures.iter().skip(seen.failures.unwrap_or(0)).any(|it| it == failure)
            }
        };
        must(is_stored, "outcome_stored", || {
            format!("n{slot} ends with {end:?}, which was not recorded since it began to wait")
        })
    }

    /// A process gives up recording how its work ended. `term` as above.
    pub fn not_recorded(slot: usize, epoch: Epoch, term: Option<Epoch>) -> Result<(), Broken> {
        must(term != Some(epoch), "end_recorded", || {
            format!("n{slot} does not record how its work ended, and its epoch {epoch} lasts")
        })
    }
}

#[cfg(test)]
mod tests {
    use baton_core::schedule::once::{
        FoundRecord, OnceAction, OnceEnding, OnceTerm, OnceWait, OnceWritten,
    };

    use super::*;
    use crate::once::state::node;

    const SKIP: OnCrash = OnCrash::Skip;

    /// What a leader writes and then runs, over a record at version 0 or 1.
    fn claim(epoch: u64, before: Option<OnceRecord>) -> (OnceWrite, OnceClaim) {
        let wait = OnceWait::since(before.as_ref(), OnCrash::Retry);
        let mut term = OnceTerm::new(wait, Epoch(epoch), node(0));
        let version = u64::from(before.is_some());
        let OnceAction::Write(write) = term.handle_read(FoundRecord { record: before, version }, 0)
        else {
            unreachable!("there is something to claim")
        };
        let OnceAction::Run(claim) = term.handle_written(OnceWritten::Yes(version + 1)) else {
            unreachable!("it is written")
        };
        (write, claim)
    }

    fn ending(ending: &OnceEnding) -> OnceWrite {
        match ending.begin() {
            baton_core::schedule::once::EndingStep::Write(write) => write,
            other => unreachable!("{other:?}"),
        }
    }

    /// A store with this record.
    fn store(write: &OnceWrite, version: u64, granted: u64) -> Store {
        Store { record: Some(write.record.clone()), version, granted: Epoch(granted) }
    }

    fn name(broken: Result<(), Broken>) -> &'static str {
        broken.expect_err("it must fire").invariant
    }

    fn starts(
        witness: &mut Witness,
        claim: &OnceClaim,
        store: &Store,
        seen: &mut Seen,
    ) -> Result<(), Broken> {
        witness.starts(0, claim, store, [(0, seen)].into_iter())
    }

    fn failed(attempt: &OnceClaim) -> OnceWrite {
        ending(&attempt.failed(0, OnceCause::Exit(1)))
    }

    #[test]
    fn a_start_without_a_claim_or_beside_another_fires_and_so_does_a_number_that_stays() {
        let (write, claim) = claim(1, None);
        let (mut witness, mut seen) = (Witness::new(OnCrash::Retry), Seen::default());
        let empty = Store::default();
        assert_eq!(name(starts(&mut witness, &claim, &empty, &mut seen)), "claimed_first");
        let claimed = store(&write, 1, 1);
        assert_eq!(starts(&mut witness, &claim, &claimed, &mut seen), Ok(()));
        assert_eq!(name(starts(&mut witness, &claim, &claimed, &mut seen)), "one_at_a_time");
        witness.stops(0);
        assert_eq!(name(starts(&mut witness, &claim, &claimed, &mut seen)), "attempts_rise");
    }

    #[test]
    fn a_start_after_a_success_fires_and_so_does_a_success_that_is_written_over() {
        let (write, claim) = claim(1, None);
        let mut witness = Witness::new(OnCrash::Retry);
        let done = store(&ending(&claim.succeeded(0, 0)), 2, 1);
        let late = witness.landed((Epoch(1), &write), &done, None, [].into_iter());
        assert_eq!(name(late), "success_kept");
        let again = starts(&mut witness, &claim, &done, &mut Seen::default());
        assert_eq!(name(again), "success_kept");
    }

    #[test]
    fn a_process_that_waited_for_a_failure_or_for_a_run_that_was_cut_off_may_not_start() {
        let (write, first) = claim(1, None);
        let claimed = store(&write, 1, 1);
        for on_crash in [OnCrash::Retry, SKIP] {
            let mut witness = Witness::new(on_crash);
            let mut waits = Seen::default();
            witness.began(&mut waits, &Store::default());
            assert_eq!(starts(&mut witness, &first, &claimed, &mut waits), Ok(()));
            assert_eq!(waits.barred, on_crash == SKIP);
            let mut begins = Seen::default();
            witness.began(&mut begins, &claimed);
            assert_eq!(begins.barred, on_crash == SKIP);
            witness.stops(0);
            let failure = failed(&first);
            let all = [&mut waits].into_iter();
            assert_eq!(witness.landed((Epoch(1), &failure), &claimed, None, all), Ok(()));
            let (write, second) = claim(2, Some(failure.record));
            let claimed = store(&write, 2, 2);
            assert_eq!(name(starts(&mut witness, &second, &claimed, &mut waits)), "waiting_ends");
        }
    }

    #[test]
    fn a_write_of_an_older_epoch_fires_and_so_does_one_that_cuts_a_term_off_which_lasts() {
        let (write, _) = claim(1, None);
        let mut witness = Witness::new(OnCrash::Retry);
        let later = Store { granted: Epoch(2), ..Store::default() };
        let old = witness.landed((Epoch(1), &write), &later, None, [].into_iter());
        assert_eq!(name(old), "fenced");
        let (again, _) = claim(2, Some(write.record.clone()));
        let claimed = store(&write, 1, 1);
        let landed = |witness: &mut Witness, term| {
            witness.landed((Epoch(2), &again), &claimed, term, [].into_iter())
        };
        assert_eq!(name(landed(&mut witness, Some(Epoch(1)))), "claim_kept");
        assert_eq!(landed(&mut witness, Some(Epoch(2))), Ok(()));
        let given_up = |term| Witness::not_recorded(0, Epoch(1), term);
        assert_eq!(name(given_up(Some(Epoch(1)))), "end_recorded");
        assert_eq!(given_up(None), Ok(()));
    }

    #[test]
    fn an_outcome_that_is_not_stored_or_from_before_it_waited_fires() {
        let (write, claim) = claim(1, None);
        let (claimed, failure) = (store(&write, 1, 1), failed(&claim));
        let mut witness = Witness::new(OnCrash::Retry);
        let (mut early, mut later) = (Seen::default(), Seen::default());
        witness.began(&mut early, &claimed);
        let success = claim.succeeded(0, 0);
        let done = success.end().expect("it has ended");
        assert_eq!(name(witness.ended(0, &early, &done, &claimed)), "outcome_stored");
        let stored = store(&ending(&success), 2, 1);
        assert_eq!(witness.ended(0, &early, &done, &stored), Ok(()));
        let landed = witness.landed((Epoch(1), &failure), &claimed, None, [].into_iter());
        assert_eq!(landed, Ok(()));
        let end = claim.failed(0, OnceCause::Exit(1)).end().expect("it has ended");
        witness.began(&mut later, &stored);
        assert_eq!(witness.ended(0, &early, &end, &stored), Ok(()));
        assert_eq!(name(witness.ended(0, &later, &end, &stored)), "outcome_stored");
    }
}

//! A change of a page that took place, taken apart for the checkers.

use baton_core::ids::Epoch;
use baton_core::schedule::{ActiveRun, Entry, Page, RunId, RunState, Schedule, Slot};

use super::zones::Resolved;

/// Whose change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The scheduler of a term.
    Leader {
        /// Its epoch.
        epoch: Epoch,
        /// The wall clock that it decided by.
        wall_ms: u64,
    },
    /// A person.
    Person {
        /// The wall clock of that person's machine.
        wall_ms: u64,
    },
}

/// A change of a page.
pub struct Commit<'a> {
    pub page: usize,
    pub before: &'a Page,
    pub after: &'a Page,
    pub author: Author,
    /// What became of each schedule that was there before and is there now, and differs.
    pub changes: Vec<Change<'a>>,
}

/// What became of one schedule.
pub struct Change<'a> {
    pub before: &'a Entry,
    pub after: &'a Entry,
    pub author: Author,
    /// As it is defined now.
    pub schedule: Schedule,
    /// The slots that were decided on.
    pub due: Vec<Slot>,
}

impl<'a> Commit<'a> {
    /// Takes a change apart.
    pub fn new(
        (page, before, after): (usize, &'a Page, &'a Page),
        author: Author,
        resolved: &mut Resolved,
    ) -> Self {
        let changes = after.entries.iter().filter_map(|entry| {
            let old = before.entry(entry.name()).filter(|old| *old != entry)?;
            Some(Change::new(old, entry, author, resolved.get(&entry.definition)))
        });
        let changes = changes.collect();
        Self { page, before, after, author, changes }
    }
}

impl<'a> Change<'a> {
    /// Compares a schedule before and after.
    pub fn new(before: &'a Entry, after: &'a Entry, author: Author, schedule: Schedule) -> Self {
        let mut due = Vec::new();
        let is_decision = matches!(author, Author::Leader { .. }) && !counts_anew(before, after);
        let mut last = before.last;
        while is_decision
            && let Some(next) = schedule.next_after(&last)
            && next.at_ms <= after.last.at_ms
        {
            due.push(next);
            last = next;
        }
        Self { before, after, author, schedule, due }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.after.name()
    }

    /// The runs that are under way now and were not before.
    pub fn begun(&self) -> impl Iterator<Item = &'a ActiveRun> {
        let before = self.before;
        self.after.running.iter().filter(move |run| !has_run(&before.running, run.id))
    }

    /// The runs that were under way before and are not now.
    pub fn finished(&self) -> impl Iterator<Item = &'a ActiveRun> {
        let after = self.after;
        self.before.running.iter().filter(move |run| !has_run(&after.running, run.id))
    }

    /// The runs whose attempts were claimed.
    pub fn claimed(&self) -> impl Iterator<Item = &'a ActiveRun> {
        let before = self.before;
        self.after.running.iter().filter(move |run| {
            let is_same = |old: &&ActiveRun| (old.id, old.attempt) == (run.id, run.attempt);
            run.state == RunState::Running && !before.running.iter().any(|old| is_same(&old))
        })
    }

    /// The decided slots that are run or wait to be.
    pub fn admitted(&self) -> impl Iterator<Item = &Slot> {
        self.due.iter().filter(|slot| {
            let id = RunId::from(**slot);
            self.after.waiting.contains(&id) || has_run(&self.after.running, id)
        })
    }
}

/// Is the run of this id among these?
pub fn has_run(runs: &[ActiveRun], id: RunId) -> bool {
    runs.iter().any(|run| run.id == id)
}

/// Are slots counted from this change on: has it other times, or is it declared again?
fn counts_anew(before: &Entry, after: &Entry) -> bool {
    let times = |entry: &Entry| {
        let definition = &entry.definition;
        (definition.cron.clone(), definition.tz.clone(), definition.daylight)
    };
    let is_back = before.undeclared_ms.is_some() && after.undeclared_ms.is_none();
    is_back || times(before) != times(after)
}

//! Small makers of facts for the checkers' own tests.

use baton_core::ids::{Epoch, NodeId};
use baton_core::schedule::entry::{Claimant, Totals};
use baton_core::schedule::{
    ActiveRun, AttemptId, Definition, Entry, Page, RunId, RunState, Schedule, Slot,
};

use crate::schedules::commit::{Author, Commit};
use crate::schedules::fact::Fact;
use crate::schedules::zones::{Resolved, resolve};

/// When the tests begin, in Unix milliseconds: a whole minute.
pub const START_MS: u64 = 1_790_000_040_000;

/// The wall clock after this many milliseconds, as the leader of the first term has it.
pub fn leader(after_ms: u64) -> Author {
    Author::Leader { epoch: Epoch(1), wall_ms: START_MS + after_ms }
}

/// A schedule of every second, with other policies.
pub fn schedule(change: impl FnOnce(&mut Definition)) -> Schedule {
    let mut definition = Definition::new("tick", "* * * * * *");
    change(&mut definition);
    resolve(&definition)
}

/// It was declared at the beginning, and nothing has happened yet.
pub fn entry(schedule: &Schedule) -> Entry {
    Entry {
        definition: schedule.definition.clone(),
        revision: 1,
        last: schedule.recurrence.moment(START_MS),
        paused_ms: None,
        undeclared_ms: None,
        edited_by: None,
        waiting: Vec::new(),
        running: Vec::new(),
        history: std::collections::VecDeque::new(),
        totals: Totals::default(),
    }
}

/// The slot of this second.
pub fn slot(second: u64) -> Slot {
    let at_ms = START_MS + second * 1_000;
    Slot { at_ms, local_s: (at_ms / 1_000) as i64, is_repeated: false }
}

/// An attempt of the run of a second's slot, in the first term.
pub fn run(second: u64, attempt: u32) -> ActiveRun {
    ActiveRun {
        id: RunId::from(slot(second)),
        attempt,
        failures: 0,
        losses: 0,
        claimant: Claimant { epoch: Epoch(1), number: 0 },
        node: NodeId::new("a").expect("valid"),
        since_ms: START_MS,
        state: RunState::Running,
    }
}

/// Names that attempt.
pub fn attempt(second: u64, attempt: u32) -> AttemptId {
    AttemptId { schedule: "tick".to_owned(), run: run(second, attempt).id, attempt }
}

/// A page of one schedule.
pub fn page(entry: &Entry) -> Page {
    let mut page = Page::default();
    page.entries.push(entry.clone());
    page
}

/// Shows a checker that this became of a schedule.
pub fn commit(
    check: &mut impl FnMut(&Fact<'_>) -> Result<(), String>,
    (before, after): (&Entry, &Entry),
    author: Author,
) -> Result<(), String> {
    let (before, after) = (page(before), page(after));
    let mut resolved = Resolved::default();
    check(&Fact::Committed(&Commit::new((0, &before, &after), author, &mut resolved)))
}

/// Shows a checker that an attempt was started.
pub fn start(
    check: &mut impl FnMut(&Fact<'_>) -> Result<(), String>,
    second: u64,
    number: u32,
) -> Result<(), String> {
    check(&Fact::Started { attempt: &attempt(second, number), run: &run(second, number) })
}

/// Shows a checker that an attempt ended.
pub fn end(
    check: &mut impl FnMut(&Fact<'_>) -> Result<(), String>,
    (second, number): (u64, u32),
    end: &crate::schedules::fact::TrueEnd,
) -> Result<(), String> {
    check(&Fact::Ended { attempt: &attempt(second, number), end })
}

//! What people do: pause, resume and run a schedule, by reading its page, changing it, and writing
//! it over what they have read, without a fence.

use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::schedule::page::WriterId;
use baton_core::schedule::{Claimant, EditRefused, Entry, Page};
use baton_core::time::whole_ms;
use baton_store::WriteOutcome;

use super::term::Delivery;
use super::{Author, Event, World};
use crate::schedules::fault::Fault;
use crate::schedules::zones::resolve;

/// An edit on its way, and how often it may be tried again.
pub struct EditAttempt {
    page: usize,
    schedule: String,
    kind: EditKind,
    /// What was read and changed.
    changed: (u64, Page),
    wall_ms: u64,
    tries: u32,
}

#[derive(Clone, Copy)]
enum EditKind {
    Pause,
    Resume,
    Request,
}

impl World {
    /// A person wants something of a schedule.
    pub(super) fn edit(&mut self) {
        if self.is_calm {
            return;
        }
        let next = self.about(self.plan.edit_every);
        self.after(next, Event::Edit);
        let all: Vec<(usize, &Entry)> = self
            .store
            .pages()
            .iter()
            .enumerate()
            .flat_map(|(page, it)| it.entries.iter().map(move |entry| (page, entry)))
            .collect();
        if all.is_empty() {
            return;
        }
        let (page, entry) = all[self.rng.below(all.len() as u64) as usize];
        let schedule = entry.name().to_owned();
        let (kind, fault) = match entry.paused_ms.is_some() {
            true if !self.rng.one_in(4) => (EditKind::Resume, Fault::ScheduleResumed),
            false if !self.rng.one_in(2) => (EditKind::Pause, Fault::SchedulePaused),
            _ => (EditKind::Request, Fault::RunRequested),
        };
        if self.plan.has(fault) || matches!(kind, EditKind::Resume) {
            self.begin_edit(page, schedule, kind, 4);
        }
    }

    fn begin_edit(&mut self, page: usize, schedule: String, kind: EditKind, tries: u32) {
        let Some((version, mut content)) = self.store.read(page) else { return };
        let Some(entry) = content.entry_mut(&schedule) else { return };
        let error_ms = whole_ms(self.rng.span(Duration::ZERO, self.plan.wall_error));
        let true_ms = self.plan.start_ms + self.now.as_micros() / 1_000;
        let wall_ms = if self.rng.one_in(2) { true_ms + error_ms } else { true_ms - error_ms };
        if apply(entry, kind, wall_ms).is_err() {
            return;
        }
        self.edits += 1;
        let boot = BootId(u128::MAX - u128::from(self.edits));
        content.writer = WriterId { boot, claimant: Claimant::default(), number: 1 };
        let takes = self.span_ms(1, 400);
        let changed = (version, content);
        let attempt = EditAttempt { page, schedule, kind, changed, wall_ms, tries };
        self.after(takes, Event::EditReaches(Box::new(attempt)));
    }

    pub(super) fn edit_reaches(&mut self, attempt: EditAttempt) {
        if self.store.is_away {
            return;
        }
        let EditAttempt { page, schedule, kind, changed: (version, content), .. } = attempt;
        let (outcome, change) = self.store.write(page, version, &content, None);
        if let WriteOutcome::Conflict(_) = outcome {
            self.count(Fault::EditConflict);
            if attempt.tries > 0 {
                self.begin_edit(page, schedule, kind, attempt.tries - 1);
            }
            return;
        }
        let Some((before, after)) = change else { return };
        self.count(match kind {
            EditKind::Pause => Fault::SchedulePaused,
            EditKind::Resume => Fault::ScheduleResumed,
            EditKind::Request => Fault::RunRequested,
        });
        self.line(|| format!("a person changes {schedule} on page {page}: {outcome:?}"));
        let author = Author::Person { wall_ms: attempt.wall_ms };
        self.committed(page, (&before, &after), author);
        // A hint may reach the leader, or be lost.
        if self.rng.one_in(2)
            && let Some(epoch) = self.leading()
        {
            self.after(Duration::from_millis(1), Event::Deliver(epoch, Delivery::Edited));
        }
    }
}

fn apply(entry: &mut Entry, kind: EditKind, wall_ms: u64) -> Result<(), EditRefused> {
    match kind {
        EditKind::Pause => entry.pause(wall_ms),
        EditKind::Resume => {
            let schedule = resolve(&entry.definition);
            entry.resume(&schedule, wall_ms)
        }
        EditKind::Request => entry.request(wall_ms).map(|_| ()),
    }
}

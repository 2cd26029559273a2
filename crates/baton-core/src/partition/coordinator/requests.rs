//! What is asked of the store, one request at a time, and what becomes of it.
//!
//! ```text
//!   read all ──► plan ──► write ──► Written ──────────────────────► plan
//!                 ▲         ▲ └───► Failed ──── pause ────────────► plan
//!                 │         │ └───► Unknown ──► read ──┬ as before ──► the same write once more
//!                 │         └──────────────────────────┘
//!                 └─── what was read is the truth ◄── read ◄── changed, or Conflict
//! ```
//!
//! A write without an answer may still reach the store. So nothing else is decided until it is
//! known what became of it: either the documents have moved, or the same write is made again. Of
//! two equal writes over the same versions only one can take place.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Action, BatchOutcome, Coordinator, DocumentWrite, SLOTS_MAX};
use crate::partition::assignment::{Assignment, AssignmentVersion};
use crate::planted::planted;
use crate::time::Moment;

/// How many documents a new coordinator reads at a time.
const READ_MAX: u32 = 100;

/// The pause after a request that failed.
const PAUSE: Duration = Duration::from_millis(500);

/// A write that was not answered with success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    /// It is on its way for the first time.
    None,
    /// It may have been made, or may yet be.
    MayLand,
    /// Its documents have moved: neither it nor a copy of it can be made any more.
    Settled,
    /// It had not been made when its documents were read.
    Again,
}

#[derive(Debug)]
struct Batch {
    writes: Vec<DocumentWrite>,
    doubt: Doubt,
}

/// The request under way, and what is to be asked next.
#[derive(Debug)]
pub(super) struct Requests {
    is_under_way: bool,
    /// The slots below this one were read.
    loaded: u32,
    /// Were all documents read?
    is_loaded: bool,
    batch: Option<Batch>,
    /// No request before this moment.
    pub(super) held_until: Moment,
    pub(super) is_over: bool,
}

impl Requests {
    pub(super) fn new(now: Moment) -> Self {
        let (is_under_way, is_loaded, is_over) = (false, false, false);
        Self { is_under_way, loaded: 0, is_loaded, batch: None, held_until: now, is_over }
    }

    /// Is everything known, and nothing under way?
    pub(super) fn is_settled(&self) -> bool {
        self.is_loaded && self.batch.is_none()
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// A reading failed.
    pub(super) fn unread(&mut self, now: Moment) {
        if std::mem::take(&mut self.is_under_way) {
            self.held_until = now + PAUSE;
        }
    }

    pub(super) fn write(&mut self, writes: Vec<DocumentWrite>, actions: &mut Vec<Action>) {
        actions.push(Action::Write(writes.clone()));
        self.is_under_way = true;
        self.batch = Some(Batch { writes, doubt: Doubt::None });
    }
}

impl Coordinator {
    /// Asks for what is not known, and plans once all is.
    pub(super) fn ask(&mut self, now: Moment, actions: &mut Vec<Action>) {
        let requests = &mut self.requests;
        if requests.is_under_way || requests.is_over || now < requests.held_until {
            return;
        }
        match &mut requests.batch {
            None if !requests.is_loaded => {
                let first = requests.loaded;
                actions.push(Action::Read { slots: (first..first + READ_MAX).collect() });
                requests.is_under_way = true;
            }
            None => self.plan(now, actions),
            Some(batch) if batch.doubt == Doubt::Again => {
                actions.push(Action::Write(batch.writes.clone()));
                requests.is_under_way = true;
            }
            Some(batch) => {
                let slots = batch.writes.iter().map(|write| write.slot).collect();
                actions.push(Action::Read { slots });
                requests.is_under_way = true;
            }
        }
    }

    pub(super) fn take_reading(
        &mut self,
        now: Moment,
        found: Vec<Option<(u64, Assignment)>>,
        actions: &mut Vec<Action>,
    ) {
        if !std::mem::take(&mut self.requests.is_under_way) {
            return;
        }
        if !self.requests.is_loaded {
            return self.load(now, &found, actions);
        }
        let Some(batch) = &mut self.requests.batch else { return };
        let versions = found.iter().map(|it| it.as_ref().map_or(0, |(version, _)| *version));
        let moved = batch.writes.iter().zip(versions).filter(|(it, found)| it.over != *found);
        let moved = moved.count();
        if batch.doubt == Doubt::MayLand && moved < batch.writes.len() {
            // What was read before the write took place may be out of date.
            batch.doubt = if moved > 0 { Doubt::Settled } else { Doubt::Again };
            if moved == 0 {
                self.requests.held_until = now + PAUSE;
            }
            return;
        }
        let Some(batch) = self.requests.batch.take() else { return };
        let slots = batch.writes.into_iter().map(|it| it.slot);
        let documents = slots.zip(found).filter_map(|(slot, found)| {
            let (version, content) = found?;
            Some((version, DocumentWrite { slot, over: 0, content }))
        });
        let documents: Vec<_> = documents.collect();
        let documents: Vec<_> = documents.iter().map(|(version, it)| (*version, it)).collect();
        self.settle(now, &documents, actions);
    }

    /// A chunk of all documents was read: they end where there is none.
    fn load(
        &mut self,
        now: Moment,
        found: &[Option<(u64, Assignment)>],
        actions: &mut Vec<Action>,
    ) {
        let present = (self.requests.loaded..).zip(found).filter_map(|(slot, found)| {
            let (version, content) = found.clone()?;
            Some((version, DocumentWrite { slot, over: 0, content }))
        });
        let present: Vec<_> = present.collect();
        self.requests.loaded += READ_MAX;
        self.requests.is_loaded =
            found.iter().any(Option::is_none) || self.requests.loaded >= SLOTS_MAX;
        let is_older = |it: &DocumentWrite| it.content.lineage != self.term.lineage;
        if present.iter().any(|(_, it)| is_older(it)) {
            self.be_cautious();
        }
        let present: Vec<_> = present.iter().map(|(version, it)| (*version, it)).collect();
        self.take_documents(now, &present);
        if self.requests.is_loaded {
            self.publish(actions);
        }
    }

    pub(super) fn written(
        &mut self,
        now: Moment,
        outcome: BatchOutcome,
        actions: &mut Vec<Action>,
    ) {
        let Some(batch) = self.requests.batch.as_mut().filter(|_| self.requests.is_under_way)
        else {
            return;
        };
        self.requests.is_under_way = false;
        match outcome {
            BatchOutcome::Written(versions) => {
                let writes = std::mem::take(&mut batch.writes);
                self.requests.batch = None;
                let documents: Vec<_> = versions.into_iter().zip(&writes).collect();
                self.settle(now, &documents, actions);
            }
            BatchOutcome::Conflict => {
                batch.doubt = Doubt::Settled;
                self.requests.held_until = now + PAUSE;
            }
            BatchOutcome::Fenced => self.requests.is_over = true,
            BatchOutcome::Unknown if planted!(UnknownBatchForgotten) => {
                self.requests.batch = None;
                self.is_stale = true;
            }
            BatchOutcome::Unknown => batch.doubt = Doubt::MayLand,
            BatchOutcome::Failed => {
                self.requests.held_until = now + PAUSE;
                if batch.doubt == Doubt::None {
                    self.requests.batch = None;
                    self.is_stale = true;
                }
            }
        }
    }

    /// It is known what stands in these documents.
    fn settle(
        &mut self,
        now: Moment,
        documents: &[(u64, &DocumentWrite)],
        actions: &mut Vec<Action>,
    ) {
        self.take_documents(now, documents);
        self.publish(actions);
    }

    /// A document may be in effect from the moment it was written, whatever the view says; with the
    /// view its process learns of it.
    fn publish(&self, actions: &mut Vec<Action>) {
        let mut versions = BTreeMap::new();
        for (slot, it) in self.slots.iter() {
            if self.slots.of(it.boot) == Some(slot) {
                versions.insert(it.boot, AssignmentVersion { slot, version: it.version });
            }
        }
        actions.push(Action::Publish(Arc::new(versions)));
    }
}

//! The rules of the term history: written in the same step that begins or ends a term.

use std::collections::VecDeque;

use baton_core::ids::Epoch;
use baton_core::protocol::{NodeRecord, TermEnd, TermRecord};
use serde::{Deserialize, Serialize};

use crate::lease_rule::{LastTerm, UnreleasedEnd, begin_term};

/// How many terms are kept.
const KEPT: usize = 1_000;

/// The last terms, the newest last.
#[derive(Clone, Debug, Default, Hash, Serialize, Deserialize)]
pub struct History(VecDeque<TermRecord>);

impl History {
    /// A term begins; the last one, if it is still open, ended as given.
    pub(super) fn begin(
        &mut self,
        wall_ms: u64,
        epoch: Epoch,
        node: &NodeRecord,
        unreleased: Option<UnreleasedEnd>,
    ) {
        let last = match self.0.back() {
            None => LastTerm::None,
            Some(last) => last.ended.map_or(LastTerm::Open, |(at, _)| LastTerm::Ended(at)),
        };
        let change = begin_term(wall_ms, epoch, node, last, unreleased);
        if let (Some(last), Some(end)) = (self.0.back_mut(), change.closes) {
            last.ended = Some(end);
        }
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(change.begins);
    }

    /// The term of this epoch ends.
    pub(super) fn end(&mut self, ended_ms: u64, epoch: Epoch, end: TermEnd) {
        if let Some(last) = self.0.back_mut().filter(|last| last.epoch == epoch) {
            last.ended = Some((ended_ms, end));
        }
    }

    /// Forgets the oldest beyond those to keep, at most `limit` at once; returns how many.
    pub(super) fn forget(&mut self, keep: usize, limit: usize) -> usize {
        let beyond = self.0.len().saturating_sub(keep).min(limit);
        self.0.drain(..beyond);
        beyond
    }

    pub(super) fn newest(&self, limit: usize) -> Vec<TermRecord> {
        self.0.iter().rev().take(limit).cloned().collect()
    }
}

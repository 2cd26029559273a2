//! The rules of the term history: written in the same step that begins or ends a term.

use std::collections::VecDeque;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::protocol::{TermEnd, TermRecord};
use serde::{Deserialize, Serialize};

/// How many terms are kept.
const KEPT: usize = 1_000;

/// The last terms, the newest last.
#[derive(Clone, Debug, Default, Hash, Serialize, Deserialize)]
pub struct History(VecDeque<TermRecord>);

/// The end of a term that its holder did not release.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unreleased {
    pub(super) end: TermEnd,
    /// When its holder could last act.
    pub(super) ended_ms: u64,
    /// When its holder last renewed it.
    pub(super) renewed_ms: u64,
}

impl History {
    /// A term begins; the last one, if it is still open, ended as given.
    pub(super) fn begin(
        &mut self,
        wall_ms: u64,
        epoch: Epoch,
        node: NodeId,
        boot: BootId,
        last: Option<Unreleased>,
    ) {
        let mut gap_at_most_ms = None;
        if let (Some(open), Some(last)) = (self.0.back_mut(), last)
            && open.ended.is_none()
        {
            open.ended = Some((last.ended_ms, last.end));
            gap_at_most_ms = Some(wall_ms.saturating_sub(last.renewed_ms));
        }
        let ended_ms = self.0.back().and_then(|last| last.ended).map(|(at, _)| at);
        let gap_ms = ended_ms.map(|at| wall_ms.saturating_sub(at));
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        let (began_ms, ended) = (wall_ms, None);
        self.0.push_back(TermRecord { epoch, node, boot, began_ms, ended, gap_ms, gap_at_most_ms });
    }

    /// The term of this epoch ends.
    pub(super) fn end(&mut self, ended_ms: u64, epoch: Epoch, end: TermEnd) {
        if let Some(last) = self.0.back_mut().filter(|last| last.epoch == epoch) {
            last.ended = Some((ended_ms, end));
        }
    }

    /// Forgets all but the newest.
    pub(super) fn keep(&mut self, most: usize) {
        self.0.drain(..self.0.len().saturating_sub(most));
    }

    /// Forgets the oldest beyond so many, at most so many at once; how many.
    pub(super) fn forget(&mut self, keep: usize, limit: usize) -> usize {
        let beyond = self.0.len().saturating_sub(keep).min(limit);
        self.0.drain(..beyond);
        beyond
    }

    pub(super) fn newest(&self, limit: usize) -> Vec<TermRecord> {
        self.0.iter().rev().take(limit).cloned().collect()
    }
}

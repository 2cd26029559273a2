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

impl History {
    /// A term begins; the last one, if it is still open, ended when and as given.
    pub(super) fn begin(
        &mut self,
        wall_ms: u64,
        epoch: Epoch,
        node: NodeId,
        boot: BootId,
        last_ended: Option<(u64, TermEnd)>,
    ) {
        if let (Some(last), Some(end)) = (self.0.back_mut(), last_ended)
            && last.ended.is_none()
        {
            last.ended = Some(end);
        }
        let ended_ms = self.0.back().and_then(|last| last.ended).map(|(at, _)| at);
        let gap_ms = ended_ms.map(|at| wall_ms.saturating_sub(at));
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(TermRecord { epoch, node, boot, began_ms: wall_ms, ended: None, gap_ms });
    }

    /// The term of this epoch ends.
    pub(super) fn end(&mut self, wall_ms: u64, epoch: Epoch, end: TermEnd) {
        if let Some(last) = self.0.back_mut().filter(|last| last.epoch == epoch) {
            last.ended = Some((wall_ms, end));
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

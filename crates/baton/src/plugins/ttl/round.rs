//! One round: every sweep in turn, a batch at a time, until nothing more is due; then baton's own
//! old records.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use baton_core::Event;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Prune, PruneOutcome, StoreError};

use super::{Target, Ttl};
use crate::leadership::Leadership;
use crate::plugin::PluginError;

/// What went wrong in one round, all of it in one line. What is not named went well.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .failures.join("; "))]
pub struct RoundFailed {
    /// Each failure, with the target that it is about.
    pub failures: Vec<String>,
}

impl Ttl {
    /// One round, and an event for each target of which something was removed in it.
    pub(super) async fn round(&self, term: &Leadership) -> Result<(), PluginError> {
        let so_far = || -> Vec<u64> {
            self.counted().map(|(_, records)| records.load(Ordering::Relaxed)).collect()
        };
        let before = so_far();
        let done = self.sweep_all(term).await;
        for ((target, _), (before, after)) in self.counted().zip(before.into_iter().zip(so_far())) {
            let (plugin, target, records) = (self.name.clone(), target.to_owned(), after - before);
            if records > 0 {
                term.node().events.send(Event::PluginSwept { plugin, target, records });
            }
        }
        done
    }

    /// A backlog of one target does not keep the others waiting: they take turns.
    async fn sweep_all(&self, term: &Leadership) -> Result<(), PluginError> {
        let mut failures = Vec::new();
        let mut waiting: VecDeque<&Target> = self.targets.iter().collect();
        let mut is_first = true;
        while let Some(target) = waiting.pop_front() {
            if !is_first && !self.paused(term).await {
                break;
            }
            is_first = false;
            if !term.may_start_work() {
                break;
            }
            match target.sweep.batch(term.epoch(), self.batch).await {
                Ok(swept) => {
                    target.swept.fetch_add(u64::from(swept.records), Ordering::Relaxed);
                    if swept.more {
                        waiting.push_back(target);
                    }
                }
                Err(error) => failures.push(error.to_string()),
            }
        }
        if let Err(error) = self.prune(term).await {
            failures.push(error.to_string());
        }
        match failures.is_empty() {
            true => Ok(()),
            false => Err(RoundFailed { failures }.into()),
        }
    }

    /// Removes what is old, a batch at a time.
    async fn prune(&self, term: &Leadership) -> Result<(), StoreError> {
        let Some(own) = self.own else { return Ok(()) };
        while term.may_start_work() {
            let prune = Prune {
                dead_for: own.forget_dead_after,
                keep_terms: own.keep_terms,
                limit: self.batch,
            };
            let PruneOutcome::Pruned { records } = term.prune(prune).await? else {
                return Ok(());
            };
            self.pruned.fetch_add(u64::from(records), Ordering::Relaxed);
            if records < self.batch || !self.paused(term).await {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits between two batches; false if the term ended meanwhile.
    async fn paused(&self, term: &Leadership) -> bool {
        tokio::select! {
            biased;
            _ = term.lost() => false,
            () = SystemClock.sleep(self.pause) => true,
        }
    }
}

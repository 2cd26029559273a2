//! The calls: each a few requests to the server, and the memory store's rules in between.
//!
//! ```text
//!   observe           PUT worker ─┬─► reply        both at once; the first only if the record
//!                     GET state ──┘                cannot wait
//!   renew, acquire    PUT worker ──► PUT state     the second only if the first was let
//! ```
//!
//! A beat is two requests, unless another node wrote in between. An error speaks of the lease: the
//! node's record may have been written.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{BeatReply, BeatRequest, LeaseIntent, Outcome, Reply, Request};
use baton_store::memory::StepTime;
use baton_store::{Answer, Call, Operation, Prune, PruneOutcome, StoreError, namespace_page};

use super::context::{CallContext, step_time};
use super::schema;
use super::state::State;

impl CallContext<'_> {
    pub(super) async fn perform(&self, call: Call) -> Result<Answer, StoreError> {
        match &call {
            // The namespace plays no part in it.
            Call::Namespaces { .. } => {}
            // What was never written cannot be left.
            Call::Core(Request::Leave { .. }) => self.admit(false).await?,
            call => self.admit(call.writes()).await?,
        }
        match call {
            Call::Core(request) => self.perform_core(request).await.map(Answer::Core),
            Call::WriteDocuments { writes, fence } => {
                self.write_documents(writes, fence).await.map(Answer::Written)
            }
            Call::Inspect => {
                self.look(|it: &State| Answer::Inspected(it.space.inspect(step_time().now))).await
            }
            Call::ReadDocuments { names } => {
                self.read_documents(&names).await.map(Answer::Documents)
            }
            Call::Namespaces { after, limit } => {
                let found = self.bucket.list(&self.engine.prefix).await?;
                let all: Vec<_> = found.folders.iter().filter_map(schema::namespace).collect();
                Ok(Answer::Namespaces(namespace_page(all, after.as_ref(), limit)))
            }
            Call::Counters(call) => self.count(call).await.map(Answer::Counters),
            Call::History { limit } => {
                self.look(|it: &State| Answer::History(it.space.history(limit))).await
            }
            Call::Prune { fence, prune } => self.prune(fence, prune).await.map(Answer::Pruned),
        }
    }

    async fn perform_core(&self, request: Request) -> Result<Reply, StoreError> {
        match request {
            Request::Beat(beat) => self.beat(beat).await.map(Reply::Beat),
            Request::ReadMembers => self.members().await.map(Reply::Members),
            Request::Leave { node, boot } => self.leave(&node, boot).await.map(Reply::Done),
            request => {
                let rule = |state: &mut State, at| {
                    let reply = state.space.perform(at, request.clone(), false);
                    let changed = reply == Reply::Done(Outcome::Applied);
                    (reply, changed)
                };
                self.change(rule).await
            }
        }
    }

    async fn beat(&self, beat: BeatRequest) -> Result<BeatReply, StoreError> {
        if beat.lease == LeaseIntent::Observe {
            return self.observe(beat).await;
        }
        let registration = self.register(&beat).await?;
        let rule = |state: &mut State, at| {
            let reply = state.space.registered_beat(at, beat.clone(), registration.clone());
            let changed = reply.outcome == Some(Outcome::Applied);
            (reply, changed)
        };
        self.change(rule).await
    }

    async fn observe(&self, beat: BeatRequest) -> Result<BeatReply, StoreError> {
        let registering = self.register(&beat);
        let (registration, found) = tokio::join!(registering, self.read::<State>());
        let (registration, found) = (registration?, found?);
        let mut state = found.map_or_else(State::default, |found| found.content.clone());
        Ok(state.space.registered_beat(step_time(), beat, registration))
    }

    /// Removes old records, unless a later epoch is known: terms in one step with the check of the
    /// fence, then node records one by one.
    ///
    /// How long a node was silent follows from the server's dates, of the object and of the
    /// listing, in whole seconds. A record that goes is marked as left, on the condition that it is
    /// still the one that was listed. A node that comes back in that very moment writes a new one
    /// with its next beat.
    async fn prune(&self, fence: Epoch, prune: Prune) -> Result<PruneOutcome, StoreError> {
        let rule = |state: &mut State, at: StepTime| {
            let outcome = state.space.prune(at.now, fence, prune);
            (outcome, matches!(outcome, PruneOutcome::Pruned { records: 1.. }))
        };
        let PruneOutcome::Pruned { records: terms } = self.change(rule).await? else {
            return Ok(PruneOutcome::Fenced);
        };
        let seconds = seconds_apart(prune.dead_for);
        let left = usize::try_from(prune.limit.saturating_sub(terms)).unwrap_or(usize::MAX);
        let nodes = self.forget_silent(seconds, left).await?;
        let Some(bodies) = self.prune_bodies(fence, seconds, left - nodes).await? else {
            return Ok(PruneOutcome::Fenced);
        };
        let others = u32::try_from(nodes + bodies).unwrap_or(u32::MAX);
        Ok(PruneOutcome::Pruned { records: terms.saturating_add(others) })
    }
}

/// How far apart two dates must be, both cut to whole seconds, to make sure of this time.
fn seconds_apart(time: Duration) -> i64 {
    let begun = u64::from(time.subsec_nanos() > 0);
    let seconds = time.as_secs().saturating_add(begun).saturating_add(1);
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_without_fractions_never_make_a_silence_longer_than_it_was() {
        // From 0.999 s to 1.000 s is a millisecond, and the dates are a second apart.
        for (ms, apart) in [(0, 1), (1, 2), (600, 2), (1_000, 2), (1_001, 3), (60_000, 61)] {
            assert_eq!(seconds_apart(Duration::from_millis(ms)), apart, "{ms} ms");
        }
        assert_eq!(seconds_apart(Duration::MAX), i64::MAX);
    }
}

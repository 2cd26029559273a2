//! A beat: the node record and the lease in one transaction.

use baton_core::protocol::{BeatReply, BeatRequest, LeaseIntent, Outcome, Registration};
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};
use baton_store::memory::registration;

use super::context::{ATTEMPTS, CallContext, overtaken};
use super::lease::{self, Grant, LeaseDecision};
use super::namespace_state::{KnownLeases, NamespaceState, unchanged};
use super::records::Record;
use super::spare_lease;
use super::wire::{Compare, Op};

impl CallContext<'_> {
    pub(super) async fn beat(&self, beat: &BeatRequest) -> Result<BeatReply, StoreError> {
        let (mut state, mut is_fresh) = self.cached_or_read().await?;
        let mut granted: Option<Grant> = None;
        if let LeaseIntent::Acquire(claim) = &beat.lease
            && claim.expect != state.row().map(|row| row.record.version())
        {
            // It knows better than this handle.
            let has_spare = self.engine.cache.with(self.namespace, |cached| {
                cached.spare.is_some_and(|spare| spare.serves(claim.ttl, SystemClock.now()))
            });
            state = if has_spare {
                self.read().await?
            } else {
                // Neither has to wait for the other.
                let (read, grant) = tokio::join!(self.read(), self.grant(claim.ttl));
                granted = Some(grant?);
                read?
            };
            is_fresh = true;
        }
        for _ in 0..ATTEMPTS {
            let known = state.node.as_ref().map(|stored| &stored.record);
            let registration = registration(known, &beat.node, |boot| Some(boot) == beat.replaces);
            if registration != Registration::Registered {
                if is_fresh {
                    return Ok(self.reply(&state, registration, None, beat).await);
                }
                (state, is_fresh) = (self.read().await?, true);
                continue;
            }
            let leases = match beat.lease {
                LeaseIntent::Acquire(_) => self.known_leases(&state).await,
                _ => KnownLeases::default(),
            };
            let is_over = leases.is_over(&state);
            let ruling = lease::decide(&state, is_over, &beat.node, &beat.lease);
            granted = match (granted, &ruling) {
                (None, LeaseDecision::Begin(term)) => {
                    Some(self.spare_or_grant(term.record.ttl).await?)
                }
                (None, LeaseDecision::GoOn(record)) => Some(self.grant(record.ttl).await?),
                (granted, _) => granted,
            };
            let outcome = match ruling {
                LeaseDecision::Look => None,
                LeaseDecision::Conflict => Some(Outcome::Conflict),
                LeaseDecision::Begin(_) | LeaseDecision::GoOn(_) => Some(Outcome::Applied),
            };
            let (compare, writes) = self.plan_beat(&state, beat, &ruling, granted);
            match self.commit(compare, writes).await? {
                (true, after) => {
                    if matches!(ruling, LeaseDecision::Look) {
                        self.leave_follow_up(spare_lease::after_look(&after, &beat.node));
                    }
                    return Ok(self.reply(&after, Registration::Registered, outcome, beat).await);
                }
                (false, now) => (state, is_fresh) = (now, true),
            }
        }
        Err(overtaken(ATTEMPTS))
    }

    /// The comparisons that the ruling rests on, and the writes that carry it out.
    fn plan_beat(
        &self,
        state: &NamespaceState,
        beat: &BeatRequest,
        ruling: &LeaseDecision,
        granted: Option<Grant>,
    ) -> (Vec<Compare>, Vec<Op>) {
        let (keys, now_ms) = (&self.keys, SystemClock.wall_ms());
        let node = keys.node(&beat.node.id);
        let mut compare = unchanged(&node, &state.node);
        let known = state.node.as_ref().is_some_and(|stored| stored.record.boot == beat.node.boot);
        let mut writes = Vec::new();
        if !(known && beat.is_mere_look()) {
            writes.push(Op::put(&node, beat.node.write()));
        }
        if !matches!(ruling, LeaseDecision::Look) {
            compare.extend(state.same_lease(keys));
        }
        let row = match (ruling, granted, state.row()) {
            (LeaseDecision::Begin(term), Some(grant), last) => {
                // The new epoch is above it.
                compare.extend(unchanged(&keys.fence, &state.fence));
                let (row, closed) = lease::begin(last, &beat.node, term, grant, now_ms);
                writes.extend(lease::begun(keys, &row, closed));
                Some(row)
            }
            (LeaseDecision::GoOn(record), Some(grant), Some(row)) => {
                Some(lease::with_lease(row, record, grant, now_ms))
            }
            _ => None,
        };
        writes.extend(row.iter().flat_map(|row| lease::held_writes(keys, row)));
        (compare, writes)
    }

    async fn reply(
        &self,
        state: &NamespaceState,
        registration: Registration,
        outcome: Option<Outcome>,
        beat: &BeatRequest,
    ) -> BeatReply {
        let leases = self.known_leases(state).await;
        let view = state.view.as_ref().map(|stored| &stored.record);
        BeatReply {
            registration,
            lease: leases.snapshot(state, SystemClock.now()),
            outcome,
            lineage: super::LINEAGE,
            view: view.filter(|view| view.version > beat.known_view).cloned(),
        }
    }
}

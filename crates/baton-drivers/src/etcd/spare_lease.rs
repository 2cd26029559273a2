//! The spare: an etcd lease that the first in line is granted ahead, so that its takeover waits for
//! etcd's disk once and not twice.
//!
//! ```text
//!   a beat of the first in line ─ answered ─► a spare is granted, twice the ttl long
//!   the takeover ── one transaction, with the spare ── answered ─► a lease of its own replaces it
//! ```
//!
//! Neither is waited for, and neither has to succeed: without a spare a takeover is granted a lease
//! when it needs one, and a term that keeps its spare is only longer in etcd's eyes until it is
//! renewed.

use std::time::Duration;

use baton_core::protocol::NodeRecord;
use baton_core::time::Moment;
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};

use super::context::{CallContext, Plan};
use super::lease::{self, Grant};
use super::namespace_state::NamespaceState;
use super::records::LeaseRow;

#[derive(Clone, Copy, Debug)]
pub(super) struct SpareLease {
    pub(super) grant: Grant,
    /// When it was asked for, so not after etcd began to count.
    pub(super) since: Moment,
}

impl SpareLease {
    /// Does etcd keep it for a whole ttl from now? Its age is counted twice, so that no difference
    /// between etcd's clock and ours makes it end early.
    pub(super) fn serves(&self, ttl: Duration, now: Moment) -> bool {
        let age = now.since(self.since).saturating_mul(2);
        self.grant.ttl.checked_sub(age).is_some_and(|left| left >= ttl)
    }
}

/// What is to be done once a call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowUp {
    /// The first in line gets a spare for a lease of this length.
    Spare(Duration),
    /// The term that began with this lease gets one of its own.
    OwnLease(i64),
}

pub(super) fn after_look(state: &NamespaceState, node: &NodeRecord) -> Option<FollowUp> {
    let row = state.held()?;
    let holder = row.record.holder.as_ref().filter(|holder| holder.boot != node.boot);
    let first = state.view.as_ref()?.record.successors.first().filter(|_| holder.is_some());
    (first == Some(&node.id)).then_some(FollowUp::Spare(row.record.ttl))
}

impl CallContext<'_> {
    /// The spare, if it serves; else a lease that is granted now.
    pub(super) async fn spare_or_grant(&self, ttl: Duration) -> Result<Grant, StoreError> {
        let spare = self.engine.cache.with(self.namespace, |cached| cached.spare.take());
        match spare.filter(|spare| spare.serves(ttl, SystemClock.now())) {
            Some(SpareLease { grant, .. }) => {
                self.leave_follow_up(Some(FollowUp::OwnLease(grant.id)));
                Ok(grant)
            }
            None => self.grant(ttl).await,
        }
    }

    /// Leaves this to be done once the call is answered.
    pub(super) fn leave_follow_up(&self, due: Option<FollowUp>) {
        if due.is_some() {
            self.engine.cache.with(self.namespace, |cached| cached.follow_up = due);
        }
    }

    /// Does what is due. What fails is left to the next beat.
    pub(super) async fn follow_up(&self, due: FollowUp) -> Result<(), StoreError> {
        match due {
            FollowUp::Spare(ttl) => {
                let since = SystemClock.now();
                let grant = self.grant(ttl.saturating_mul(2)).await?;
                let spare = Some(SpareLease { grant, since });
                self.engine.cache.with(self.namespace, |cached| cached.spare = spare);
                Ok(())
            }
            FollowUp::OwnLease(spare) => self.replace_spare(spare).await,
        }
    }

    /// Puts a lease of its own in the place of the spare, unless a renewal has done so.
    async fn replace_spare(&self, spare: i64) -> Result<(), StoreError> {
        fn begun_with(state: &NamespaceState, spare: i64) -> Option<&LeaseRow> {
            state.held().filter(|row| row.lease == spare && state.is_live())
        }
        let Some(state) = self.cached() else { return Ok(()) };
        let Some(row) = begun_with(&state, spare) else { return Ok(()) };
        let (keys, grant) = (&self.keys, self.grant(row.record.ttl).await?);
        self.carry_out(|state| match begun_with(state, spare) {
            None => Plan::Answer(()),
            Some(row) => {
                let row = lease::with_lease(row, &row.record, grant, SystemClock.wall_ms());
                let writes = lease::held_writes(keys, &row).into();
                Plan::Write(state.same_lease(keys), writes, ())
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spare_serves_while_twice_its_age_leaves_a_whole_ttl() {
        let second = Duration::from_secs(1);
        let since = Moment::from_micros(100_000_000);
        let spare = SpareLease { grant: Grant { id: 7, ttl: second * 30 }, since };
        for (age, ttl, serves) in [
            (Duration::ZERO, second * 30, true),
            (Duration::ZERO, second * 31, false),
            (second * 7, second * 15, true),
            (second * 15 / 2, second * 15, true),
            (second * 8, second * 15, false),
            (second * 60, second, false),
        ] {
            assert_eq!(spare.serves(ttl, since + age), serves, "{ttl:?} at {age:?}");
        }
    }
}

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

use baton_core::ids::Namespace;
use baton_core::protocol::NodeRecord;
use baton_core::time::Moment;
use baton_store::StoreError;

use super::engine::EtcdEngine;
use super::lease::{self, Grant};
use super::record::{LeaseRow, Record};
use super::sight::{Sight, unchanged};
use super::step::{Committed, Step, TRIES};
use super::wire::Op;

/// A lease that is nobody's yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spare {
    pub(super) grant: Grant,
    /// When it was asked for, so not after etcd began to count.
    pub(super) since: Moment,
}

impl Spare {
    /// Does etcd keep it for a whole ttl from now? Its age is counted twice, so that no difference
    /// between etcd's clock and ours makes it end early.
    pub(super) fn serves(&self, ttl: Duration, now: Moment) -> bool {
        let age = now.since(self.since).saturating_mul(2);
        self.grant.ttl.checked_sub(age).is_some_and(|left| left >= ttl)
    }
}

/// What is to be done once a call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The first in line gets a spare for a lease of this length.
    Spare(Duration),
    /// The term that began with this lease gets one of its own.
    OwnLease(i64),
}

/// Is a spare due after a look by this node?
pub(super) fn after_look(sight: &Sight, node: &NodeRecord) -> Option<Due> {
    let row = sight.held()?;
    let holder = row.holder.as_ref().filter(|holder| holder.boot != node.boot);
    let first = sight.view.as_ref()?.record.successors.first().filter(|_| holder.is_some());
    (first == Some(&node.id)).then_some(Due::Spare(row.ttl))
}

/// Does what is due. Whatever fails is left to the next beat.
pub(super) async fn settle(
    engine: &EtcdEngine,
    namespace: &Namespace,
    due: Due,
) -> Result<(), StoreError> {
    let step = Step::new(engine, namespace, None, None);
    match due {
        Due::Spare(ttl) => {
            let since = step.now();
            let grant = step.grant(ttl.saturating_mul(2)).await?;
            engine.memories.keep_spare(namespace, Spare { grant, since });
            Ok(())
        }
        Due::OwnLease(spare) => replace(&step, spare).await,
    }
}

/// Puts a lease of its own in the place of the spare, unless a renewal has done so.
async fn replace(step: &Step<'_>, spare: i64) -> Result<(), StoreError> {
    let Some(mut sight) = step.remembered() else { return Ok(()) };
    let mut granted = None;
    for _ in 0..TRIES {
        let begun_with = |row: &&LeaseRow| row.lease == spare && sight.is_live();
        let Some(row) = sight.held().filter(begun_with) else { break };
        let grant = match granted {
            Some(grant) => grant,
            None => step.grant(row.ttl).await?,
        };
        granted = Some(grant);
        let row = lease::with_lease(row, grant, step.wall());
        let (lease, holder) = (step.keys().lease(), step.keys().holder());
        let mut compare = unchanged(&lease, &sight.lease);
        compare.extend(unchanged(&holder, &sight.holder));
        let key = lease::holder_key(&row).write();
        let writes = vec![Op::put(&lease, row.write()), Op::put_with(&holder, key, grant.id)];
        match step.commit(compare, writes).await? {
            Committed::Done(_) => break,
            Committed::Stale(now) => sight = *now,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spare_serves_while_twice_its_age_leaves_a_whole_ttl() {
        let second = Duration::from_secs(1);
        let since = Moment::from_micros(100_000_000);
        let spare = Spare { grant: Grant { id: 7, ttl: second * 30 }, since };
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

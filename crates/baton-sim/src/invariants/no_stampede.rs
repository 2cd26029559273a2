//! Staggered successors: when a lease falls free, nodes with the same view take turns.

use std::time::Duration;

use baton_core::protocol::{Acquire, Claim, LeaseIntent, Request, Version, ViewVersion};
use baton_core::time::Moment;
use baton_store::ExpiryClock;

use crate::fact::{Fact, ProcessId};
use crate::plan::{Fault, Plan};

/// Looks at the claims on the version that is free now.
///
/// Claims closer together than a quarter of a stagger count as one moment. Only where messages
/// and clocks are even enough for nodes to agree that closely on when a lease is free, and only
/// for nodes in touch with the store: after an outage, chance decides who comes first. So it
/// does where each observer counts from its own look: one expiry in some ten thousand looks
/// like a stampede.
pub fn check(plan: &Plan) -> impl FnMut(&Fact<'_>) -> Result<(), String> + use<> {
    let stagger = plan.settings.takeover_stagger;
    let drift = plan.settings.lease_timeout.mul_f64(plan.drift_ppm as f64 / 1e6);
    let even = plan.expiry != ExpiryClock::Observer
        && plan.latency.most * 8 < stagger
        && drift * 8 < stagger
        && !plan.beyond_drift()
        && ![Fault::SlowMessage, Fault::SlowTimer, Fault::Pause, Fault::Suspend, Fault::Freeze]
            .into_iter()
            .any(|fault| plan.has(fault));
    let beat = plan.settings.heartbeat_interval + plan.settings.heartbeat_jitter;
    let in_touch = beat + plan.latency.most * 2;
    claims_take_turns(even, stagger / 4, in_touch)
}

fn claims_take_turns(
    checked: bool,
    gap: Duration,
    in_touch: Duration,
) -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut free: Option<(Version, ViewVersion)> = None;
    let mut claims: Vec<(ProcessId, Moment)> = Vec::new();
    move |fact: &Fact<'_>| {
        let Fact::Sent { pid, at, request: Request::Beat(beat), known_view, since_reply, .. } =
            fact
        else {
            return Ok(());
        };
        let LeaseIntent::Acquire(Acquire { expect: Some(version), claim: Claim::Expired, .. }) =
            beat.lease
        else {
            return Ok(());
        };
        if !checked || *since_reply > in_touch || *known_view == ViewVersion::default() {
            return Ok(());
        }
        if free != Some((version, *known_view)) {
            free = Some((version, *known_view));
            claims.clear();
        }
        // A claim that was refused is made again after a random while: only first ones have turns.
        if claims.iter().any(|(by, _)| by == pid) {
            return Ok(());
        }
        claims.push((*pid, *at));
        let now = claims.iter().filter(|(_, sent)| at.since(*sent) < gap);
        let slots: Vec<usize> = now.map(|(pid, _)| pid.slot).collect();
        if slots.len() < 3 {
            return Ok(());
        }
        Err(format!("nodes {slots:?} claim epoch {}'s lease at the same moment", version.epoch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{lease, node, pid};
    use baton_core::ids::{Epoch, Lineage};
    use baton_core::protocol::{BeatRequest, NodeProfile, NodeRecord, Recording};
    use std::sync::Arc;

    #[test]
    fn three_claims_at_one_moment_fire() {
        let free = lease(1, 1, Some(1)).version;
        let request = Request::Beat(BeatRequest {
            node: NodeRecord {
                id: node("a"),
                boot: pid(1).boot,
                beat: 1,
                eligible: true,
                draining: false,
                load: 0,
                seen: Epoch(1),
                partitions: None,
                profile: Arc::new(NodeProfile::default()),
            },
            recording: Recording::Write,
            replaces: None,
            lease: LeaseIntent::Acquire(Acquire {
                expect: Some(free),
                claim: Claim::Expired,
                lineage: Lineage(0),
                floor: Epoch(1),
                nonce: free.nonce,
                ttl: Duration::from_secs(15),
            }),
            known_view: ViewVersion::default(),
        });
        let known_view = ViewVersion { epoch: Epoch(1), number: 1 };
        let sent = |n, micros| {
            let at = Moment::from_micros(micros);
            let since_reply = Duration::ZERO;
            Fact::Sent { pid: pid(n), at, local: at, request: &request, known_view, since_reply }
        };
        let (gap, in_touch) = (Duration::from_millis(25), Duration::from_secs(6));
        let mut checker = claims_take_turns(true, gap, in_touch);
        assert!(checker(&sent(1, 0)).is_ok());
        assert!(checker(&sent(2, 100_000)).is_ok());
        assert!(checker(&sent(3, 100_010)).is_ok());
        assert!(checker(&sent(4, 100_020)).is_err());
    }
}

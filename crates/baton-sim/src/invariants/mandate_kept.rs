//! The mandate: no node preempts a leader before its minimum duration is over.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{Release, ReleaseReason, Request};
use baton_core::time::Moment;

use crate::fact::{Fact, ProcessId};

/// Looks at releases that preempt a leader: its term must have lasted `least`.
pub fn check(least: Duration) -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    // When each process took its term up, by its own clock.
    let mut held: BTreeMap<ProcessId, (Epoch, Moment)> = BTreeMap::new();
    move |fact: &Fact<'_>| match fact {
        Fact::Handled(pid, state) => {
            if let Some(epoch) = state.holding
                && held.get(pid).is_none_or(|(held, _)| *held != epoch)
            {
                held.insert(*pid, (epoch, state.local));
            }
            Ok(())
        }
        Fact::Sent {
            pid,
            local,
            request: Request::Release(Release { reason: ReleaseReason::Preempted, expect, .. }),
            ..
        } => {
            let since = held.get(pid).filter(|(epoch, _)| *epoch == expect.epoch);
            let age = since.map_or(Duration::ZERO, |(_, since)| local.since(*since));
            if age >= least {
                return Ok(());
            }
            Err(format!(
                "node {} yields epoch {} after {age:?}, before its mandate of {:?} is over",
                pid.slot, expect.epoch, least
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::ProcessState;
    use crate::invariants::testing::{at, idle, lease, pid};
    use baton_core::protocol::ViewVersion;

    #[test]
    fn yielding_before_the_mandate_is_over_fires() {
        let held = lease(1, 1, Some(1)).version;
        let request = Request::Release(Release {
            expect: held,
            nonce: held.nonce,
            successor: None,
            reason: ReleaseReason::Preempted,
        });
        let sent = |local| Fact::Sent {
            pid: pid(1),
            at: at(local),
            local: at(local),
            request: &request,
            known_view: ViewVersion::default(),
            since_reply: Duration::ZERO,
        };
        let mut checker = check(Duration::from_secs(60));
        let holding = ProcessState { holding: Some(Epoch(1)), ..idle(100) };
        assert!(checker(&Fact::Handled(pid(1), holding)).is_ok());
        assert!(checker(&sent(159)).is_err());
        assert!(checker(&sent(160)).is_ok());
    }
}

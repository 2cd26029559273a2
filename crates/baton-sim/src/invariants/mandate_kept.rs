//! The mandate: no node preempts a leader before its minimum duration is over.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{Release, ReleaseReason, Request};
use baton_core::time::Moment;

use crate::fact::{Fact, Who};

/// Looks at releases that preempt a leader: its term must have lasted `least`.
pub fn check(least: Duration) -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    // When each process took its term up, by its own clock.
    let mut held: BTreeMap<Who, (Epoch, Moment)> = BTreeMap::new();
    move |fact: &Fact<'_>| match fact {
        Fact::Handled(who, condition) => {
            if let Some(epoch) = condition.holding
                && held.get(who).is_none_or(|(held, _)| *held != epoch)
            {
                held.insert(*who, (epoch, condition.local));
            }
            Ok(())
        }
        Fact::Sent {
            who,
            local,
            request: Request::Release(Release { reason: ReleaseReason::Preempted, expect, .. }),
            ..
        } => {
            let since = held.get(who).filter(|(epoch, _)| *epoch == expect.epoch);
            let age = since.map_or(Duration::ZERO, |(_, since)| local.since(*since));
            if age >= least {
                return Ok(());
            }
            Err(format!(
                "node {} yields epoch {} after {age:?}, before its mandate of {:?} is over",
                who.slot, expect.epoch, least
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Condition;
    use crate::invariants::testing::{at, idle, lease, who};
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
            who: who(1),
            at: at(local),
            local: at(local),
            request: &request,
            known_view: ViewVersion::default(),
            heard: Duration::ZERO,
        };
        let mut checker = check(Duration::from_secs(60));
        let holding = Condition { holding: Some(Epoch(1)), ..idle(100) };
        assert!(checker(&Fact::Handled(who(1), holding)).is_ok());
        assert!(checker(&sent(159)).is_err());
        assert!(checker(&sent(160)).is_ok());
    }
}

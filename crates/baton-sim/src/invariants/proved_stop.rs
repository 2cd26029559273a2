//! S4: a term's record is released only once its work is proved to have stopped.

use std::collections::BTreeSet;

use baton_core::ids::Epoch;
use baton_core::protocol::{Release, Request};

use crate::fact::{Fact, ProcessId};

/// Looks at releases: no work of the released term may be running.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    // The terms whose work was started and has not stopped.
    let mut working: BTreeSet<(ProcessId, Epoch)> = BTreeSet::new();
    move |fact: &Fact<'_>| {
        match fact {
            Fact::TermStarted { pid, epoch, .. } => {
                working.insert((*pid, *epoch));
            }
            Fact::WorkStopped(pid, epoch) => {
                working.remove(&(*pid, *epoch));
            }
            Fact::Sent { pid, request: Request::Release(Release { expect, .. }), .. }
                if working.contains(&(*pid, expect.epoch)) =>
            {
                return Err(format!(
                    "node {} releases epoch {} while its work runs",
                    pid.slot, expect.epoch
                ));
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{at, lease, node, pid};
    use std::time::Duration;

    use baton_core::protocol::{ReleaseReason, ViewVersion};

    #[test]
    fn a_release_before_the_stop_fires() {
        let id = node("a");
        let held = lease(1, 1, Some(1)).version;
        let request = Request::Release(Release {
            expect: held,
            nonce: held.nonce,
            successor: None,
            reason: ReleaseReason::Shutdown,
        });
        let sent = Fact::Sent {
            pid: pid(1),
            at: at(1),
            local: at(1),
            request: &request,
            known_view: ViewVersion::default(),
            since_reply: Duration::ZERO,
        };
        let mut checker = check();
        let (epoch, seen) = (Epoch(1), Epoch::NONE);
        let start = Fact::TermStarted { pid: pid(1), node: &id, epoch, seen, eligible: true };
        assert!(checker(&start).is_ok());
        assert!(checker(&sent).is_err());
        assert!(checker(&Fact::WorkStopped(pid(1), Epoch(1))).is_ok());
        assert!(checker(&sent).is_ok());
    }
}

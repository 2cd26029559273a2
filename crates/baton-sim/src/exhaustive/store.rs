//! The store of the model: the executable specification, or a wrong one on request.

use baton_core::ids::Lineage;
use baton_core::protocol::{Claim, LeaseIntent, Outcome, Reply, Request};
use baton_store::memory::{Space, Stamp};
use baton_store::{ExpiryClock, Release};

use super::bounds::{Model, Wrong, at_store};

/// Carries a request out.
pub fn serve(model: &Model, tick: u32, space: &mut Space, request: Request) -> Reply {
    // The time of day is always the same: it is for people, and would tell equal states apart.
    let at = Stamp { now: at_store(tick), wall_ms: 0 };
    match request {
        Request::Beat(mut beat) => {
            if model.is(Wrong::GrantsEverything) {
                make_it_hold(at, space, &mut beat.lease);
            }
            Reply::Beat(space.beat(at, beat))
        }
        Request::ReadMembers => {
            let with_age = model.bounds.clock != ExpiryClock::Observer;
            Reply::Members(space.members(at.now, with_age))
        }
        Request::PublishView { fence, view } => Reply::Done(space.publish_view(fence, view)),
        Request::Release { expect, nonce, successor, reason } => {
            let outcome = space.release(at, Release { expect, nonce, successor, reason });
            if outcome == Outcome::Applied && model.is(Wrong::ForgetsOnRelease) {
                *space = Space::new(model.bounds.clock, Lineage(0));
            }
            Reply::Done(outcome)
        }
        Request::Leave { node, boot } => Reply::Done(space.leave(&node, boot)),
        Request::Ask { epoch, ask } => Reply::Done(space.ask(epoch, ask)),
    }
}

/// Turns a claim into one that holds.
fn make_it_hold(at: Stamp, space: &Space, intent: &mut LeaseIntent) {
    if let LeaseIntent::Acquire { expect, claim, .. } = intent {
        let lease = space.snapshot(at.now);
        *expect = lease.as_ref().map(|lease| lease.version);
        let holder = lease.and_then(|lease| lease.holder);
        *claim = holder.map_or(Claim::Vacant, |holder| Claim::Dead { boot: holder.boot });
    }
}

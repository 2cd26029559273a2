//! The store of the model: the executable specification, or a wrong one on request.

use baton_core::ids::Lineage;
use baton_core::protocol::{Acquire, Claim, LeaseIntent, Outcome, Reply, Request};
use baton_store::ExpiryClock;
use baton_store::memory::{Space, StepTime};

use super::bounds::{Model, WrongRule, at_store};

/// Carries a request out.
pub fn serve(model: &Model, tick: u32, space: &mut Space, mut request: Request) -> Reply {
    // The time of day is always the same: it is for people, and would tell equal states apart.
    let at = StepTime { now: at_store(tick), wall_ms: 0 };
    if let Request::Beat(beat) = &mut request
        && model.is(WrongRule::GrantsEverything)
    {
        make_it_hold(at, space, &mut beat.lease);
    }
    let releases = matches!(request, Request::Release(_));
    let reply = space.perform(at, request, model.bounds.clock != ExpiryClock::Observer);
    let released = releases && reply == Reply::Done(Outcome::Applied);
    if released && model.is(WrongRule::ForgetsOnRelease) {
        *space = Space::new(model.bounds.clock, Lineage(0));
    }
    reply
}

/// Turns a claim into one that holds.
fn make_it_hold(at: StepTime, space: &Space, intent: &mut LeaseIntent) {
    if let LeaseIntent::Acquire(Acquire { expect, claim, .. }) = intent {
        let lease = space.snapshot(at.now);
        *expect = lease.as_ref().map(|lease| lease.version);
        let holder = lease.and_then(|lease| lease.holder);
        *claim = holder.map_or(Claim::Vacant, |holder| Claim::Dead { boot: holder.boot });
    }
}

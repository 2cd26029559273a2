//! One beat: the node's record, and the lease.
//!
//! ```text
//!   observe           PUT worker ─┬─► reply        both at once; the first only if the record
//!                     GET state ──┘                cannot wait
//!   renew, acquire    PUT worker ──► PUT state     the second only if the first was let
//! ```
//!
//! Two requests, unless another node wrote in between. An error speaks of the lease: the node's
//! record may have been written.

use baton_core::protocol::{BeatReply, BeatRequest, LeaseIntent, Outcome};
use baton_store::StoreError;

use super::context::{CallContext, stamp};
use super::json_object::JsonObject;
use super::state::State;

impl CallContext<'_> {
    /// One beat, whole.
    pub(super) async fn beat(&self, beat: BeatRequest) -> Result<BeatReply, StoreError> {
        self.admit(true).await?;
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
        let mut state = found.map_or_else(State::empty, |found| found.content.clone());
        Ok(state.space.registered_beat(stamp(), beat, registration))
    }
}

//! One beat: the node's record, and the lease.
//!
//! ```text
//!   observe           PUT worker ─┬─► reply        both at once; the first only if the record
//!                     GET state ──┘                cannot wait
//!   renew, acquire    PUT worker ──► PUT state     the second only if the first was let
//! ```
//!
//! Two requests, unless somebody else wrote in between. An error speaks of the lease: the node's
//! record may have been written.

use baton_core::protocol::{BeatReply, BeatRequest, LeaseIntent, Outcome};
use baton_store::StoreError;
use baton_store::memory::Space;

use super::sheet::Sheet;
use super::step::{Step, stamp};

impl Step<'_> {
    /// One beat, whole.
    pub(super) async fn beat(&self, beat: BeatRequest) -> Result<BeatReply, StoreError> {
        self.admit(true).await?;
        if beat.lease == LeaseIntent::Observe {
            return self.observe(beat).await;
        }
        let registration = self.register(&beat).await?;
        let rule = |space: &mut Space, at| {
            let reply = space.registered_beat(at, beat.clone(), registration.clone());
            let changed = reply.outcome == Some(Outcome::Applied);
            (reply, changed)
        };
        self.change(rule).await
    }

    async fn observe(&self, beat: BeatRequest) -> Result<BeatReply, StoreError> {
        let registering = self.register(&beat);
        let (registration, kept) = tokio::join!(registering, self.read::<Space>());
        let (registration, kept) = (registration?, kept?);
        let mut space = kept.map_or_else(Space::empty, |kept| kept.sheet.clone());
        Ok(space.registered_beat(stamp(), beat, registration))
    }
}

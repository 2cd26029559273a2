//! One beat: a script, a round trip.

use std::collections::BTreeMap;

use baton_core::ids::{BootId, Lineage};
use baton_core::protocol::{BeatReply, BeatRequest, Registration};
use baton_store::{Inspection, StoreError};

use super::context::CallContext;
use super::script::Arguments;
use super::{lease, view};

/// What the script answers: lineage, the server's microsecond, what the intent came to; boot and
/// beat of another process that goes by this node id; a newer view; the lease.
type Answer = (
    u64,
    u64,
    Option<String>,
    Option<String>,
    Option<u64>,
    Option<String>,
    BTreeMap<String, String>,
);

impl CallContext<'_> {
    pub(super) async fn beat(&self, beat: &BeatRequest) -> Result<BeatReply, StoreError> {
        let (node, script) = (&beat.node, &self.engine.scripts.beat);
        let arguments = Arguments::default()
            .text(&node.id)
            .text(node.boot)
            .text(node.beat)
            .json(node)
            .maybe(beat.replaces)
            .text(beat.known_view.epoch)
            .text(beat.known_view.number);
        let arguments = lease::intent(arguments, &beat.lease, node.profile.lifeline.as_deref());
        let (lineage, now_us, outcome, boot, number, newer, hash): Answer =
            self.run(script, arguments).await?;
        let registration = match boot.zip(number) {
            Some((boot, beat)) => {
                let boot = BootId::try_from(boot).map_err(|problem| script.strange(problem))?;
                Registration::TakenBy { boot, beat }
            }
            None => Registration::Registered,
        };
        let lineage = Lineage(lineage);
        self.note(lineage, now_us);
        Ok(BeatReply {
            registration,
            lease: lease::snapshot(self.namespace, now_us, hash)?,
            outcome: outcome.map(|word| script.word(&word)).transpose()?,
            lineage,
            view: view::read(self.namespace, newer)?,
        })
    }

    /// The lease and the view, without taking part.
    pub(super) async fn inspect(&self) -> Result<Inspection, StoreError> {
        let script = &self.engine.scripts.inspect;
        let (lineage, now_us, body, hash) = self.run(script, Arguments::default()).await?;
        Ok(Inspection {
            lease: lease::snapshot(self.namespace, now_us, hash)?,
            lineage: Lineage(lineage),
            view: view::read(self.namespace, body)?,
        })
    }
}

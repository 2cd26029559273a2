//! The lease as a handle last saw it. Data that shows an earlier one has gone back.
//!
//! A server that was started again on an older copy of its files looks like one that was only
//! started again: same id, same place, same timeline. What a handle saw before is what tells the
//! two apart. A lease record never goes back by itself: its epoch grows with each grant, and within
//! an epoch the attempts of its one holder do.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use baton_core::ids::{Lineage, Namespace};
use baton_core::protocol::{BeatReply, BeatRequest, LeaseIntent, Outcome, Version};

use super::DriverError;

/// The lease of each namespace as this handle last saw it.
#[derive(Default)]
pub(crate) struct SeenLeases(Mutex<BTreeMap<Namespace, SeenLease>>);

/// One of them, and the lineage it was seen in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenLease {
    lineage: Lineage,
    version: Version,
}

/// A server that a handle sends its beats to.
pub(crate) trait BeatServer: Sync {
    /// Sends a beat, once.
    fn send(
        &self,
        beat: &BeatRequest,
    ) -> impl Future<Output = Result<BeatReply, DriverError>> + Send;

    /// Every later call of the handle is in this lineage or in a later one.
    fn note_seen(&self, lineage: Lineage);
}

impl SeenLeases {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Namespace, SeenLease>> {
        self.0.lock().expect("no holder panics")
    }

    /// What was seen of this namespace, to be asked for before a request is sent.
    pub(crate) fn of(&self, namespace: &Namespace) -> Option<SeenLease> {
        self.lock().get(namespace).copied()
    }

    /// Remembers what a reply shows, unless more is known: replies overtake each other.
    pub(crate) fn note(&self, namespace: &Namespace, reply: &BeatReply) {
        let Some(lease) = &reply.lease else { return };
        let shown = SeenLease { lineage: reply.lineage, version: lease.version };
        let mut seen = self.lock();
        if seen.get(namespace).is_none_or(|known| !known.is_later_than(&shown)) {
            seen.insert(namespace.clone(), shown);
        }
    }

    /// Carries a beat out by a server: one round trip. A second one only if the data went back, to
    /// begin a new lineage: the first has written nothing then but the node record, as no claim or
    /// renewal fits an earlier lease.
    pub(crate) async fn beat(
        &self,
        namespace: &Namespace,
        beat: &BeatRequest,
        server: &impl BeatServer,
    ) -> Result<BeatReply, DriverError> {
        let before = self.of(namespace);
        let reply = server.send(beat).await?;
        if !before.is_some_and(|seen| seen.is_ahead_of(&reply)) {
            self.note(namespace, &reply);
            return Ok(reply);
        }
        server.note_seen(Lineage(reply.lineage.0.saturating_add(1)));
        if reply.outcome == Some(Outcome::Applied) {
            return Ok(reply);
        }
        let look = BeatRequest { lease: LeaseIntent::Observe, ..beat.clone() };
        let shown = server.send(&look).await?;
        self.note(namespace, &shown);
        Ok(BeatReply { outcome: reply.outcome, ..shown })
    }
}

impl SeenLease {
    /// Does the reply to a later request show an earlier lease, or none, in the same lineage? In
    /// another one it is known already that the data went back.
    pub(crate) fn is_ahead_of(&self, reply: &BeatReply) -> bool {
        let shown = reply.lease.as_ref().map(|lease| lease.version);
        reply.lineage == self.lineage
            && shown.is_none_or(|version| {
                let (nonce, seen) = (version.nonce, self.version.nonce);
                let other_term = nonce.boot != seen.boot;
                match version.epoch.cmp(&self.version.epoch) {
                    std::cmp::Ordering::Less => true,
                    std::cmp::Ordering::Equal => other_term || nonce.attempt < seen.attempt,
                    std::cmp::Ordering::Greater => false,
                }
            })
    }

    fn is_later_than(&self, other: &Self) -> bool {
        let key = |seen: &Self| (seen.lineage, seen.version.epoch, seen.version.nonce.attempt);
        key(self) > key(other)
    }
}

#[cfg(test)]
mod tests {
    use baton_core::ids::{BootId, Epoch, Nonce};
    use baton_core::protocol::{Expiry, LeaseSnapshot, Registration};

    use super::*;

    fn reply(lineage: u64, lease: Option<(u64, u128, u64)>) -> BeatReply {
        let lineage = Lineage(lineage);
        let lease = lease.map(|(epoch, boot, attempt)| LeaseSnapshot {
            version: Version { epoch: Epoch(epoch), nonce: Nonce { boot: BootId(boot), attempt } },
            holder: None,
            successor: None,
            ttl: std::time::Duration::ZERO,
            expiry: Expiry::Observer,
            lineage,
            asked: None,
        });
        let registration = Registration::Registered;
        BeatReply { registration, lease, outcome: None, lineage, view: None }
    }

    /// Has the data of this reply gone back, compared with what is remembered?
    fn went_back(seen: &SeenLeases, reply: &BeatReply) -> bool {
        seen.of(&web()).is_some_and(|seen| seen.is_ahead_of(reply))
    }

    fn web() -> Namespace {
        Namespace::new("web").expect("it is a name")
    }

    #[test]
    fn an_earlier_lease_of_the_same_lineage_has_gone_back() {
        let seen = SeenLeases::default();
        seen.note(&web(), &reply(7, None));
        assert!(!went_back(&seen, &reply(7, None)), "nothing was seen yet");
        seen.note(&web(), &reply(7, Some((2, 1, 5))));
        for (lineage, lease, expected) in [
            (7, None, true),
            (7, Some((1, 1, 9)), true),
            (7, Some((2, 1, 4)), true),
            (7, Some((2, 3, 9)), true),
            (7, Some((2, 1, 5)), false),
            (7, Some((2, 1, 6)), false),
            (7, Some((3, 3, 1)), false),
            (8, None, false),
            (8, Some((1, 1, 1)), false),
        ] {
            assert_eq!(went_back(&seen, &reply(lineage, lease)), expected, "{lineage} {lease:?}");
        }
    }

    #[test]
    fn a_reply_that_was_overtaken_is_not_remembered_and_a_new_lineage_is() {
        let seen = SeenLeases::default();
        seen.note(&web(), &reply(7, Some((3, 1, 5))));
        seen.note(&web(), &reply(7, Some((2, 1, 9))));
        assert!(went_back(&seen, &reply(7, Some((2, 1, 9)))));
        seen.note(&web(), &reply(8, Some((1, 2, 1))));
        assert!(!went_back(&seen, &reply(8, Some((1, 2, 1)))));
    }
}

//! What the store says: answers to beats, node records and views.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage};
use baton_core::protocol::{
    Ask, BeatReply, Expiry, Holder, LeaseSnapshot, Member, NodeProfile, NodeRecord, Outcome,
    Registration, Version, View, ViewMember, ViewVersion,
};

use super::{boot, id, ms};

/// An answer to a beat. The store's lineage is 1 unless told.
#[derive(Clone, Debug)]
pub struct Answer(BeatReply);

impl Answer {
    fn showing(lease: Option<LeaseSnapshot>) -> Self {
        Self(BeatReply {
            registration: Registration::Registered,
            lease,
            outcome: None,
            lineage: Lineage(1),
            view: None,
        })
    }

    /// The namespace never had a lease.
    pub fn free() -> Self {
        Self::showing(None)
    }

    /// The lease is held by the node that wrote this version, with 15 s left by the store's clock.
    pub fn held(version: Version) -> Self {
        let letter = u8::try_from(version.nonce.boot.0).expect("a boot is a letter's code");
        let node = id(char::from(letter).encode_utf8(&mut [0; 4]));
        Self::showing(Some(LeaseSnapshot {
            version,
            holder: Some(Holder { node, boot: version.nonce.boot, lifeline: None }),
            successor: None,
            ttl: ms(15_000),
            expiry: Expiry::Left(ms(15_000)),
            lineage: Lineage(1),
            asked: None,
        }))
    }

    /// This process of this node is the holder, whatever the version says.
    pub fn held_by(self, name: &str, boot: BootId) -> Self {
        self.lease(|lease| lease.holder = Some(Holder { node: id(name), boot, lifeline: None }))
    }

    /// The lease was released and names this successor.
    pub fn vacant(version: Version, successor: Option<&str>) -> Self {
        Self::held(version).lease(|lease| {
            lease.holder = None;
            lease.successor = successor.map(id);
            lease.expiry = Expiry::Left(Duration::ZERO);
        })
    }

    /// Another process goes by the node's id.
    pub fn taken(boot: BootId, beat: u64) -> Self {
        let mut answer = Self::free();
        answer.0.registration = Registration::TakenBy { boot, beat };
        answer
    }

    fn lease(mut self, change: impl FnOnce(&mut LeaseSnapshot)) -> Self {
        change(self.0.lease.as_mut().expect("the answer shows a lease"));
        self
    }

    /// So much is left by the store's clock.
    pub fn left(self, left: u64) -> Self {
        self.lease(|lease| lease.expiry = Expiry::Left(ms(left)))
    }

    /// The store has no clock: the observer judges.
    pub fn observer(self) -> Self {
        self.lease(|lease| lease.expiry = Expiry::Observer)
    }

    /// The holder has a lifeline, at its name.
    pub fn with_lifeline(self) -> Self {
        self.lease(|lease| {
            let holder = lease.holder.as_mut().expect("the lease is held");
            holder.lifeline = Some(Arc::from(holder.node.as_str()));
        })
    }

    /// The holder is another process of the node than the one that bears its letter's code.
    pub fn by_boot(self, boot: BootId) -> Self {
        self.lease(|lease| {
            lease.holder.as_mut().expect("the lease is held").boot = boot;
            lease.version.nonce.boot = boot;
        })
    }

    /// A request to the holder lies beside the lease.
    pub fn asked(self, ask: Ask) -> Self {
        self.lease(|lease| lease.asked = Some(ask))
    }

    /// The record was last written in this lineage.
    pub fn written_in(self, lineage: u64) -> Self {
        self.lease(|lease| lease.lineage = Lineage(lineage))
    }

    /// The store's data belongs to this lineage now.
    pub fn lineage(mut self, lineage: u64) -> Self {
        self.0.lineage = Lineage(lineage);
        self
    }

    /// The lease write took place.
    pub fn applied(mut self) -> Self {
        self.0.outcome = Some(Outcome::Applied);
        self
    }

    /// The lease write was refused.
    pub fn conflict(mut self) -> Self {
        self.0.outcome = Some(Outcome::Conflict);
        self
    }

    /// There is a newer view.
    pub fn view(mut self, view: View) -> Self {
        self.0.view = Some(Arc::new(view));
        self
    }

    /// The reply as the store gives it.
    pub fn into_reply(self) -> BeatReply {
        self.0
    }
}

/// A view in which every member may lead.
pub fn view(by: &str, (epoch, number): (u64, u64), members: &[&str], next: &[&str]) -> View {
    let mut members: Vec<ViewMember> = members.iter().map(|name| member(name)).collect();
    members.sort_by(|a, b| a.id.cmp(&b.id));
    View {
        version: ViewVersion { epoch: Epoch(epoch), number },
        coordinator: id(by),
        members,
        successors: next.iter().map(|name| id(name)).collect(),
        certain: next.len(),
    }
}

/// A node in a view, that may lead.
pub fn member(name: &str) -> ViewMember {
    ViewMember {
        id: id(name),
        boot: boot(name),
        candidate: true,
        draining: false,
        assignment: None,
    }
}

/// What a node says of itself with this beat.
pub fn record(name: &str, beat: u64) -> NodeRecord {
    NodeRecord {
        id: id(name),
        boot: boot(name),
        beat,
        eligible: true,
        draining: false,
        load: 0,
        seen: Epoch::NONE,
        partitions: None,
        profile: Arc::new(NodeProfile::default()),
    }
}

/// The record of a node that beat just now, by the store's clock.
pub fn heard(name: &str, beat: u64) -> Member {
    Member { record: record(name, beat), silent_for: Some(Duration::ZERO) }
}

/// The record of a node on a store without a clock: its age is not known.
pub fn unheard(name: &str, beat: u64) -> Member {
    Member { record: record(name, beat), silent_for: None }
}

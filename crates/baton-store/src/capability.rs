//! What a store declares about itself. What it does not declare, it must not pretend to have.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How far a store's answers can be trusted. Each promise names the classes it holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Replicated, and every write is seen by every later read.
    Linearizable,
    /// One server: linearizable while its data lasts.
    SingleServer,
    /// Replicas may lag, and a failover may lose the last writes.
    AsyncReplicated,
}

/// The clock that judges that a lease is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpiryClock {
    /// The store's clock, read in the same step as the write.
    Store,
    /// The store's own leases: they end late rather than early, and anew after a failover.
    StoreLease,
    /// No clock in the store: the observer counts from when it received a version.
    Observer,
}

/// Something that only some stores can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Pushes hints. Without it, `hints` is refused.
    Push,
    /// Knows how long ago a node last beat. Without it, `silent_for` is `None`.
    MemberAge,
    /// Tells when its data went back to an older copy. Without it, the lineage never changes.
    Lineage,
    /// Knows when a process that beat is gone, by something that ended with it. Without it, only
    /// the expiry tells.
    DeathProof,
    /// Keeps counters. Without it, every call about them is refused.
    Counters,
}

impl Capability {
    /// Every capability.
    pub const ALL: [Self; 5] =
        [Self::Push, Self::MemberAge, Self::Lineage, Self::DeathProof, Self::Counters];
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Push => "hints",
            Self::MemberAge => "the age of beats",
            Self::Lineage => "detection of restored data",
            Self::DeathProof => "proof of deaths",
            Self::Counters => "counters",
        })
    }
}

/// What a store says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// Its name, for reports.
    pub name: String,
    /// How far it can be trusted.
    pub class: Class,
    /// The clock that judges expiry.
    pub expiry: ExpiryClock,
    /// What it can do.
    pub capabilities: BTreeSet<Capability>,
}

impl Declaration {
    /// Does the store declare this?
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
}

//! The kinds of faults, and on which stores each can be.

use std::time::Duration;

use super::replica::has_replicas;
use crate::fixture::StoreKind;

/// A kind of fault: what is struck, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// A process: kill -9, started again after a while.
    Kill,
    /// A process: SIGTERM, started again after a while.
    Term,
    /// A process: SIGSTOP for less than a lease.
    ShortPause,
    /// A process: SIGSTOP for more than a lease.
    LongPause,
    /// A node's connections: reset.
    Cut,
    /// A node's connections: nothing passes, either way.
    Drop,
    /// A node's connections: requests arrive, nothing comes back.
    HalfOpen,
    /// A node's connections: everything is late.
    Delay,
    /// A node's connections: one request is done, and its answer lost.
    LoseReply,
    /// The server: SIGSTOP.
    PauseStore,
    /// The server: kill -9, started again after a while.
    KillStore,
    /// The server ends one of its sessions.
    EndSession,
    /// A replica is promoted; the server follows it, and is promoted again.
    PromoteReplica,
    /// All nodes: forged hints, signed and unsigned, many a second.
    ForgedHints,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [Self; 14] = [
        Self::Kill,
        Self::Term,
        Self::ShortPause,
        Self::LongPause,
        Self::Cut,
        Self::Drop,
        Self::HalfOpen,
        Self::Delay,
        Self::LoseReply,
        Self::PauseStore,
        Self::KillStore,
        Self::EndSession,
        Self::PromoteReplica,
        Self::ForgedHints,
    ];

    /// The kinds that this store can have: a file has no connections and no server, and only some
    /// servers have sessions that can be ended from another one, or replicas. Hints can always be
    /// forged.
    pub fn of(store: StoreKind) -> Vec<Self> {
        let has_sessions = matches!(store, StoreKind::Postgres | StoreKind::Mysql);
        let can_be = |kind: &Self| match kind {
            Self::EndSession => has_sessions,
            Self::PromoteReplica => has_replicas(store),
            Self::ForgedHints => true,
            kind => kind.strikes_process() || store.server().is_some(),
        };
        Self::ALL.into_iter().filter(can_be).collect()
    }

    /// Its name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Kill => "node killed with -9",
            Self::Term => "node ended with TERM",
            Self::ShortPause => "node paused, under a lease",
            Self::LongPause => "node paused, over a lease",
            Self::Cut => "connections cut",
            Self::Drop => "connections dropped",
            Self::HalfOpen => "connections half-open",
            Self::Delay => "connections delayed",
            Self::LoseReply => "reply lost after apply",
            Self::PauseStore => "store paused",
            Self::KillStore => "store killed with -9",
            Self::EndSession => "session ended by the server",
            Self::PromoteReplica => "replica promoted and back",
            Self::ForgedHints => "flood of forged hints",
        }
    }

    /// Does it strike a process?
    pub fn strikes_process(self) -> bool {
        matches!(self, Self::Kill | Self::Term | Self::ShortPause | Self::LongPause)
    }

    /// Does it strike a node's connections?
    pub fn strikes_connections(self) -> bool {
        let lines = [Self::Cut, Self::Drop, Self::HalfOpen, Self::Delay, Self::LoseReply];
        lines.contains(&self)
    }

    /// How long it lasts, at least and at most. A lease is 3 s: a loss of connections may be
    /// shorter or longer than that.
    pub fn lasts(self) -> (Duration, Duration) {
        let (low, high) = match self {
            Self::Kill | Self::Term => (10, 2_000),
            Self::ShortPause => (50, 2_500),
            Self::LongPause => (3_300, 7_000),
            Self::Cut | Self::EndSession => (0, 0),
            Self::Drop | Self::HalfOpen => (300, 6_000),
            Self::Delay => (500, 5_000),
            // By then there has been a beat.
            Self::LoseReply => (1_500, 1_500),
            Self::PauseStore => (1_000, 5_000),
            Self::KillStore => (200, 3_000),
            Self::PromoteReplica => (300, 2_000),
            Self::ForgedHints => (2_000, 8_000),
        };
        (Duration::from_millis(low), Duration::from_millis(high))
    }
}

#[cfg(test)]
mod tests {
    use baton_core::settings::Profile;

    use super::*;

    #[test]
    fn a_file_has_processes_and_hints_two_servers_have_sessions_and_one_has_replicas() {
        let count = |store| FaultKind::of(store).len();
        assert_eq!(StoreKind::ALL.map(count), [5, 13, 13, 13, 12, 12]);
        assert_eq!(FaultKind::of(StoreKind::RedisAlways), FaultKind::of(StoreKind::Redis));
        let of_file = |kind: FaultKind| kind.strikes_process() || kind == FaultKind::ForgedHints;
        assert!(FaultKind::of(StoreKind::Sqlite).into_iter().all(of_file));
    }

    #[test]
    fn pauses_are_clearly_shorter_or_longer_than_the_lease() {
        let lease = Profile::Fast.settings().lease_timeout;
        assert!(FaultKind::ShortPause.lasts().1 < lease && FaultKind::LongPause.lasts().0 > lease);
    }
}

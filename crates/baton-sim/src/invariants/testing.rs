//! Small makers of facts for the checkers' own tests.

use baton_core::ids::{BootId, Epoch, Lineage, NodeId, Nonce};
use baton_core::lease::Window;
use baton_core::protocol::{Expiry, Holder, LeaseSnapshot, Version, ViewVersion};
use baton_core::time::Moment;
use std::time::Duration;

use crate::fact::{ProcessId, ProcessState};

/// A process by number.
pub fn pid(n: u128) -> ProcessId {
    ProcessId { slot: n as usize, boot: BootId(n) }
}

/// A reading of this many seconds on some clock.
pub fn at(seconds: u64) -> Moment {
    Moment::from_micros(seconds * 1_000_000)
}

/// A window with these deadlines, in seconds.
pub fn window(soft: u64, hard: u64) -> Window {
    Window { soft: at(soft), hard: at(hard) }
}

/// A node by name.
pub fn node(name: &str) -> NodeId {
    NodeId::new(name).expect("a valid name")
}

/// A process that holds and runs nothing.
pub fn idle(local: u64) -> ProcessState {
    ProcessState {
        local: at(local),
        running: None,
        holding: None,
        window: None,
        known_epoch: Epoch::NONE,
        known_view: ViewVersion::default(),
        leaving: false,
    }
}

/// A lease held by the process with this number, or by no process.
pub fn lease(epoch: u64, attempt: u64, holder: Option<u128>) -> LeaseSnapshot {
    LeaseSnapshot {
        version: Version {
            epoch: Epoch(epoch),
            nonce: Nonce { boot: BootId(holder.unwrap_or(99)), attempt },
        },
        holder: holder.map(|n| Holder { node: node("n"), boot: BootId(n), lifeline: None }),
        successor: None,
        ttl: Duration::from_secs(15),
        expiry: Expiry::Left(Duration::from_secs(9)),
        lineage: Lineage(0),
        asked: None,
    }
}

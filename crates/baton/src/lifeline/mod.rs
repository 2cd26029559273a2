//! The lifeline: a port of the process's own, which closes when the process dies and not before.
//!
//! ```text
//!   leader                                       successor
//!   listen ◄──────────── one connection kept ──── watch
//!     │ "baton-lifeline 1 <boot id>"                │ it ends in order: dial again
//!     ▼                                             ▼
//!   hints in, nothing else out           refused, or another boot id ──► proof of death
//!                                        no connection before, a reset, ─► no proof:
//!                                        no answer, garbage                the lease decides
//! ```
//!
//! It tells nothing but the boot id. What it is told are hints, which make a node look at the store
//! sooner and nothing else; a hint that is not signed with the key in this process's own address,
//! which only the store shows, is not even read. An address names the network namespace in which
//! the process itself listens on it: there a refusal is the kernel's own word and needs no
//! connection before. A loopback address is not even dialled from another one.

mod address;
mod dial;
mod key;
mod listen;
mod notice;
mod watch;
mod wire;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

pub(crate) use dial::{hint_leader, send_and_wait, send_topic};
pub use dial::{probe, send_hint};
pub use key::without_key;
pub use notice::{Watcher, late_notice, noticed_without, watchers};

pub(crate) use listen::Lifeline;
pub(crate) use watch::watch;

/// A socket address of this machine as a lifeline's address.
pub fn address_for(socket: SocketAddr) -> String {
    address::Address::of(socket).to_string()
}

/// How a process's lifeline listens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LifelineConfig {
    /// Whether there is one at all. Switch it off where a firewall or a proxy answers for others.
    pub enabled: bool,
    /// Where it listens. Port 0 lets the system choose.
    pub bind: SocketAddr,
    /// What others dial, if that is another address than the one it listens on.
    pub advertise: Option<SocketAddr>,
    /// The number of connections it keeps. A further one is answered and then closed.
    pub connections_max: usize,
}

impl Default for LifelineConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            bind: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            advertise: None,
            connections_max: 64,
        }
    }
}

impl LifelineConfig {
    /// No lifeline.
    pub fn off() -> Self {
        Self { enabled: false, ..Self::default() }
    }
}

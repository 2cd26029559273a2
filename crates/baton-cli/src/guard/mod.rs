//! The guard process of `baton run`: it starts the command, and stops it in time whatever happens
//! to baton.
//!
//! ```text
//!  baton run ──── control socket: orders ───►    guard    ───►    guard    ═exec═► CMD
//!  (Guard)   ◄─── reports ──────────────────  (EventLoop)          (Prefork)           (Child)
//!     │                                          │             waits between terms, in a process
//!     │                                          │             group of its own; CMD is killed by
//!     │ lifeline, locks                          │ duplicates  the kernel if the guard dies
//!     ▼                                          ▼
//!  no node can prove "this process is dead" before both are gone, and the guard goes last:
//!  after everything that the term had started
//!
//!  control socket ends ──────────────────────────────────────────────► KILL
//!  window         ├── runs ──────────────┤ soft: TERM ──┤ hard − margin: KILL ─┤ hard
//!  Stop { by }                 ├ TERM ──────────────────┤ by − margin: KILL ───┤ by
//! ```
//!
//! The guard and baton are both *child subreapers*: what a dead parent leaves behind becomes the
//! guard's child, and if the guard dies, baton's. A daemon that left its process group and session
//! cannot leave this family, so "I have no children" is the proof that nothing of the term runs.
//! The process that waits to become the next command is started only after that proof, and is the
//! first child of the term that it is used in.
//!
//! The guard confirms each renewal. Baton keeps the last confirmed window's deadlines as well, and
//! if the guard misses one it is killed, and everything that it had started with it.
//!
//! The guard leads a session of its own. The terminal's Ctrl-C does not reach it nor the command;
//! baton passes on what it wants them to hear. The command's standard input is baton's, or
//! `/dev/null` if that is a terminal: no user types into a command that comes and goes.
//!
//! It goes by another name than baton, so that a signal to everything of that name spares it.
//!
//! Three things are beyond its reach. What another daemon starts for the command (`docker run`,
//! `systemd-run`, `ssh`) does not descend from it. A command that becomes another user (`sudo`) can
//! only be stopped by a guard with the rights to do so; without them `Stopped` is never said. And
//! if baton and the guard are killed in the same instant, the kernel kills the command itself, not
//! its descendants.

#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod deadline;
#[cfg(target_os = "linux")]
mod event_loop;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "no guard hears the orders"))]
mod message;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod prefork;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(target_os = "linux")]
mod term;
#[cfg(not(target_os = "linux"))]
mod unsupported;

pub use message::{Ending, Report, Start};
#[cfg(not(target_os = "linux"))]
pub use unsupported::{Guard, reap_orphans, run};
#[cfg(target_os = "linux")]
pub use {client::Guard, event_loop::run, orphans::reap_orphans, sweep::sweep_children};

/// Is there a guard on this system? Child subreapers, process descriptors and the kernel's signal
/// at a parent's death, which it is made of, are Linux's.
pub fn is_supported() -> std::io::Result<()> {
    let missing =
        "needs Linux, for the guard that stops the command; on this system use the library";
    let unsupported = || std::io::Error::new(std::io::ErrorKind::Unsupported, missing);
    if cfg!(target_os = "linux") { Ok(()) } else { Err(unsupported()) }
}

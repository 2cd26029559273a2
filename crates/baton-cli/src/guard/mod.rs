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

mod channel;
mod child;
mod client;
mod deadline;
mod event_loop;
mod message;
mod pool;
mod sweep;
mod term;

pub use client::Guard;
pub use event_loop::run;
pub use message::{Ending, Report, Start};
pub use pool::{GuardPool, vital_descriptors};
pub use sweep::{reap_orphans, sweep_children};

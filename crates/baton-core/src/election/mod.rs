//! Election: who should lead, who may, and how a term begins and ends.
//!
//! ```text
//!              cold start            candidacy + policy + takeover
//!   Start ──► observing ──► election ──► claim ──Applied──► Opening ──► Preparing ──► Running
//!                │                         ▲                                │            │
//!                └─ a live lease is seen ──┤           soft deadline, resign, transfer,  │
//!                         (Ready)          │           higher epoch, failed start        ▼
//!                                          └─── Releasing ◄── proved stopped ──── Stopping
//! ```
//!
//! The policy decides who should, the lease decides who may. [`observed_lease`] is what
//! this node last saw of the lease; [`leading`] is what it holds.

pub mod candidacy;
pub mod cold_start;
pub mod leading;
pub mod mandate;
pub mod observed_lease;
pub mod policy;
pub mod resign;
pub mod takeover;
pub mod transfer;

//! What the core decides, seen from outside: each test drives one node by hand and names exactly
//! the actions that must come out.

mod harness;

mod breaker;
mod candidacy;
mod cold_start;
mod deadlines;
mod events;
mod getters;
mod guards;
mod hints;
mod lineage;
mod mandate;
mod membership;
mod partitions;
mod properties;
mod regressions;
mod renew;
mod resign;
mod single;
mod succession;
mod take_up;
mod takeover;
mod transfer;
mod unknown;

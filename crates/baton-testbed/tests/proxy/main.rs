//! The proxy between a client and a small server that echoes, through every fault.

mod counting;
mod echo;
mod faults;

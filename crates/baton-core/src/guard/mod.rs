//! Guards: small judges of one thing each, without knowledge of the rest.

pub mod breaker;
pub mod contention;
pub mod fence;
pub mod flap;
pub mod hints;

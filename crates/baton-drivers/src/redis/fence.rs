//! The user's own writes, conditional on the epoch.

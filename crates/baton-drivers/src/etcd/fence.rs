//! Fenced writes of the user's own keys.

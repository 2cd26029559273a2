//! Fenced writes for the user's own tables.

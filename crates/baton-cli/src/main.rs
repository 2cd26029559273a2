//! The baton command.
fn main() {}

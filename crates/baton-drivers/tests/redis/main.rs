//! The redis store.
#[test]
fn nothing() { assert_eq!(1, 1); }

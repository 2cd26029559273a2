//! JSON for programs: one document, or one line for each thing that happens.

use serde::Serialize;

use super::say;

/// Prints a document that people can read too.
pub fn document(data: &impl Serialize) {
    say::line(&serde_json::to_string_pretty(data).expect("plain data has a JSON form"));
}

/// Prints one line.
pub fn line(data: &impl Serialize) {
    say::line(&serde_json::to_string(data).expect("plain data has a JSON form"));
}

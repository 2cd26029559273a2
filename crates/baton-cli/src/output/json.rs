//! JSON for programs: one document, or one line per event.

use serde::Serialize;

use super::stdout;

/// Prints data as an indented JSON document, or as the text that people read instead.
pub fn or_text(as_json: bool, data: &impl Serialize, text: impl FnOnce() -> String) {
    match as_json {
        true => document(data),
        false => stdout::text(&text()),
    }
}

/// Prints an indented document.
pub fn document(data: &impl Serialize) {
    stdout::line(&serde_json::to_string_pretty(data).expect("plain data has a JSON form"));
}

/// Prints one line.
pub fn line(data: &impl Serialize) {
    stdout::line(&serde_json::to_string(data).expect("plain data has a JSON form"));
}

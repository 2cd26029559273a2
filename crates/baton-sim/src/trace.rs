//! The trace of a run: what happened to whom, line by line. The same seed gives the same bytes.

use std::fmt::Write as _;

use crate::clock::True;

/// Kept or not.
#[derive(Clone, Debug, Default)]
pub enum Trace {
    #[default]
    Off,
    Kept(String),
}

impl Trace {
    /// An empty trace that keeps everything.
    pub fn kept() -> Self {
        Self::Kept(String::new())
    }

    /// Adds a line, which is only put together if the trace is kept.
    pub fn line(&mut self, at: True, text: impl FnOnce() -> String) {
        if let Self::Kept(lines) = self {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{at:?} {}", text());
        }
    }

    /// The whole text.
    pub fn into_text(self) -> String {
        match self {
            Self::Off => String::new(),
            Self::Kept(lines) => lines,
        }
    }
}

//! The trace of a run: what happened to whom, line by line. The same seed gives the same bytes.

use std::fmt::Write as _;

use crate::clock::TrueTime;

/// The lines of the trace, if it is on.
#[derive(Clone, Debug, Default)]
pub enum Trace {
    #[default]
    Off,
    On(String),
}

impl Trace {
    /// An empty trace that keeps everything.
    pub fn on() -> Self {
        Self::On(String::new())
    }

    /// Adds a line, which is only put together if the trace is kept.
    pub fn line(&mut self, at: TrueTime, text: impl FnOnce() -> String) {
        if let Self::On(lines) = self {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{at:?} {}", text());
        }
    }

    /// The whole text.
    pub fn into_text(self) -> String {
        match self {
            Self::Off => String::new(),
            Self::On(lines) => lines,
        }
    }
}

//! Lengths of time as people write them: `500ms`, `5s`, `2m`, `1h 30m`. For `#[serde(with)]`.

use std::fmt;
use std::time::Duration;

use serde::{Deserializer, Serializer, de};

use super::show_span;

/// Writes a length of time as text.
pub fn serialize<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&show_span(*span))
}

/// Reads a length of time from text.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    deserializer.deserialize_any(SpanVisitor)
}

struct SpanVisitor;

impl de::Visitor<'_> for SpanVisitor {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a length of time such as \"500ms\", \"5s\" or \"2m\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
        humantime::parse_duration(text).map_err(|problem| {
            E::custom(format!(
                "{text:?} is not a length of time ({problem}); write \"500ms\", \"5s\" or \"2m\""
            ))
        })
    }
}

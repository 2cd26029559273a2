//! Something that is never shown.

use std::fmt;

/// A password or a key. Its `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// For the client library alone.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::new("hush")), "***");
    }
}

//! The key of work that is done once, and the namespace in which it is decided which node does it.

use std::fmt;
use std::sync::Arc;

use crate::ids::{NAME_BYTES_MAX, Namespace};

/// What stands between the namespace and the key.
const INFIX: &str = ":once:";

/// Names work that is done once. Each key has a namespace of its own, `{namespace}:once:{key}`:
/// lease, epochs and record are its own too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnceKey {
    key: Arc<str>,
    namespace: Namespace,
}

/// Why a key was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// Nothing was given.
    #[error("key is empty; give 1 to {most} letters, digits, '.', '_', ':' or '-'")]
    Empty {
        /// The most bytes that it may have.
        most: usize,
    },
    /// Together with the namespace it is too long for the stores' key columns.
    #[error(
        "key is {bytes} bytes long; at most {most} are allowed in namespace {namespace}, since \
         {namespace}{INFIX}KEY has at most {NAME_BYTES_MAX}"
    )]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// The most bytes that it may have.
        most: usize,
        /// The namespace.
        namespace: Namespace,
    },
    /// A character that would be ambiguous in a key, a path or a log line.
    #[error("key has {found:?} at position {at}; use letters, digits, '.', '_', ':' or '-'")]
    Character {
        /// The character found.
        found: char,
        /// Where, counted from 1.
        at: usize,
    },
}

impl OnceKey {
    /// Checks a key of this namespace.
    pub fn new(namespace: &Namespace, key: &str) -> Result<Self, InvalidKey> {
        let most = NAME_BYTES_MAX.saturating_sub(namespace.as_str().len() + INFIX.len());
        if key.is_empty() {
            return Err(InvalidKey::Empty { most });
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
        if let Some((at, found)) = key.chars().enumerate().find(|&(_, c)| !allowed(c)) {
            return Err(InvalidKey::Character { found, at: at + 1 });
        }
        let too_long =
            |_| InvalidKey::TooLong { bytes: key.len(), most, namespace: namespace.clone() };
        let derived = Namespace::new(&format!("{namespace}{INFIX}{key}")).map_err(too_long)?;
        Ok(Self { key: Arc::from(key), namespace: derived })
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.key
    }

    /// The namespace in which it is decided which node does the work.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }
}

impl fmt::Display for OnceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_a_namespace_of_its_own_and_one_that_is_none_is_refused_with_both_numbers() {
        let web = Namespace::new("web").expect("a valid name");
        let key = OnceKey::new(&web, "migrate-42").expect("a valid key");
        assert_eq!(key.namespace().as_str(), "web:once:migrate-42");
        assert_eq!(key.to_string(), "migrate-42");
        let longest = "x".repeat(119);
        assert_eq!(OnceKey::new(&web, &longest).expect("it fits").namespace().as_str().len(), 128);
        let cases = [
            ("", "key is empty; give 1 to 119 letters"),
            (
                &"x".repeat(120),
                "key is 120 bytes long; at most 119 are allowed in namespace web, since \
                 web:once:KEY has at most 128",
            ),
            ("a b", "key has ' ' at position 2; use letters"),
            ("a/b", "key has '/' at position 2"),
        ];
        for (given, expected) in cases {
            let message = OnceKey::new(&web, given).expect_err("no key").to_string();
            assert!(message.starts_with(expected), "{given:?}: {message}");
        }
    }
}

//! A lifeline's key. The process draws it when it starts and publishes it in the store, as a part
//! of its lifeline's address; a hint carries a code made with it. Only a process that can read the
//! store can therefore send a hint that is heeded.
//!
//! ```text
//!   127.0.0.1:7000@<network>#<key>                    in the store, never shown
//!   <HMAC-SHA256 of the rest> <namespace> <hint>      on the wire
//! ```
//!
//! Each start of a process has a key of its own, so a line recorded earlier is worth nothing to its
//! next start. Repeated to the same process it causes what any hint causes, a look at the store, as
//! often as the node's budget for hints allows.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::error::BuildError;
use crate::random;

const MARK: char = '#';

/// What a hint to one process is signed with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key(u128);

impl Key {
    /// A key that no other process has or can guess.
    pub fn draw() -> Result<Self, BuildError> {
        Ok(Self(random::number()?))
    }

    /// The key in a lifeline's address, if there is one.
    pub fn in_address(address: &str) -> Option<Self> {
        let (_, key) = address.split_once(MARK)?;
        Some(Self(u128::from_str_radix(key, 16).ok()?))
    }

    /// The address with this key, as it is published in the store.
    pub fn published_with(self, address: &impl fmt::Display) -> String {
        format!("{address}{MARK}{:032x}", self.0)
    }

    /// The code of a text, in hexadecimal digits.
    pub fn code(self, text: &str) -> String {
        let code = self.keyed(text).finalize().into_bytes();
        code.iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"))
    }

    /// Is this the code of this text? Takes the same time wherever the two differ.
    pub fn is_code(self, code: &str, text: &str) -> bool {
        let digits = code.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        let bytes: Option<Vec<u8>> = digits.collect();
        bytes.is_some_and(|bytes| self.keyed(text).verify_slice(&bytes).is_ok())
    }

    fn keyed(self, text: &str) -> Hmac<Sha256> {
        let keyed = Hmac::<Sha256>::new_from_slice(&self.0.to_be_bytes());
        keyed.expect("HMAC takes a key of any length").chain_update(text)
    }
}

/// A key is not for reports.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A lifeline's address as people may see it: without its key.
pub fn without_key(address: &str) -> &str {
    address.split_once(MARK).map_or(address, |(shown, _)| shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_address_and_is_not_shown() {
        let key = Key(0xab);
        let address = key.published_with(&"127.0.0.1:7000@here");
        assert_eq!(Key::in_address(&address), Some(key));
        assert_eq!(without_key(&address), "127.0.0.1:7000@here");
        assert_eq!(without_key("10.1.2.3:7000"), "10.1.2.3:7000");
        for none in ["10.1.2.3:7000", "10.1.2.3:7000#", "10.1.2.3:7000#key"] {
            assert_eq!(Key::in_address(none), None, "{none}");
        }
        assert_eq!(format!("{key:?}"), "Key(…)");
    }

    #[test]
    fn a_code_belongs_to_one_key_and_one_text() {
        let key = Key(0xab);
        let code = key.code("web look");
        assert!(key.is_code(&code, "web look"));
        assert!(!key.is_code(&code, "web loop"));
        assert!(!Key(0xac).is_code(&code, "web look"));
        for wrong in ["", "00", &code[..62], &format!("{code}00"), "éé", "zz"] {
            assert!(!key.is_code(wrong, "web look"), "{wrong}");
        }
    }

    /// The second test case of RFC 4231, with its key filled up to sixteen bytes by what HMAC
    /// itself fills it up with.
    #[test]
    fn the_code_is_hmac_sha256() {
        let key = Key(u128::from_be_bytes(*b"Jefe\0\0\0\0\0\0\0\0\0\0\0\0"));
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(key.code("what do ya want for nothing?"), expected);
    }
}

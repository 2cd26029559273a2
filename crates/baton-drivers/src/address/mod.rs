//! A store's URL, taken apart: `scheme://user:password@host:port,host:port/path?option=value`.
//!
//! ```text
//!   url ──► Address: user, password, hosts, path
//!       └─► Options: each is taken by name; what is left over is refused by name
//!   url ◄── plain_url: what every client reads, put together again
//!   secrets come from the URL, from a variable (…_env=NAME) or from a file (…_file=PATH)
//! ```
//!
//! Nothing here is ever shown with a password in it.

mod options;

pub use options::Options;

use std::fmt;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::driver::all_shown;
use crate::url_parts::UrlParts;

pub use crate::url_parts::MalformedUrl;

/// What to do about a URL that can be cut in several ways.
const ESCAPES: &str = "in a password write %40 for @, %2F for /, %3F for ? and %26 for &";

/// What is wrong with a URL. One line, and no secret in it: what cannot be cut into its parts is
/// not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message says what its variant and fields mean")]
pub enum AddressError {
    #[error("{scheme}:// names no host; write {example}")]
    NoHost { scheme: String, example: &'static str },
    #[error("{scheme} address: {flaw}; {ESCAPES}")]
    Malformed { scheme: String, flaw: MalformedUrl },
    #[error("{scheme} address {part} is not UTF-8 once its %-escapes are read")]
    Escapes { scheme: String, part: &'static str },
    /// The name is shown if it cannot be a piece of a password.
    #[error("{scheme} option {name} is unknown; known are {known}")]
    UnknownOption { scheme: String, name: String, known: String },
    #[error("{scheme} option {name} is {value:?}; {wanted}")]
    Value { scheme: String, name: &'static str, value: String, wanted: String },
    #[error("{scheme} options {first} and {second} are both given; give one")]
    Both { scheme: String, first: String, second: String },
    #[error("{scheme} option {name} names the variable {variable}, which is not set")]
    NoVariable { scheme: String, name: String, variable: String },
    #[error("{scheme} option {name} is not {wanted}; the secret itself does not stand there")]
    NoName { scheme: String, name: String, wanted: &'static str },
    #[error("{scheme} option {name}: {path} cannot be read ({problem})")]
    NoFile { scheme: String, name: String, path: String, problem: String },
}

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

/// A store's URL, taken apart.
#[derive(Clone, Debug)]
pub struct Address {
    /// The user to connect as.
    pub user: Option<String>,
    /// The password: from the URL, `password_env` or `password_file`.
    pub password: Option<Secret>,
    /// The servers: at least one name or address, without the brackets around IPv6, and its port.
    pub hosts: Vec<(String, u16)>,
    /// What stands after the first `/`, without it.
    pub path: String,
}

impl Address {
    /// Takes what follows `scheme://` apart, and the options from it. `example` is shown if no host
    /// is named; `port` is that of a host without one.
    pub fn parse(
        scheme: &str,
        rest: &str,
        example: &'static str,
        port: u16,
    ) -> Result<(Self, Options), AddressError> {
        let malformed = |flaw| AddressError::Malformed { scheme: scheme.to_owned(), flaw };
        let no_host = || AddressError::NoHost { scheme: scheme.to_owned(), example };
        let parts = UrlParts::of(rest).map_err(malformed)?.ok_or_else(no_host)?;
        let decoded = |text: &str, part| decoded(scheme, text, part);
        let user = decoded(parts.user, "user")?;
        let given = decoded(parts.password.unwrap_or_default(), "password")?;
        let given = Some(given).filter(|text| !text.is_empty()).map(Secret::new);
        let mut options = Options::parse(scheme, parts.query)?;
        let host = |(name, given): &(&str, Option<u16>)| {
            Ok((decoded(name, "host")?, given.unwrap_or(port)))
        };
        let address = Self {
            user: Some(user).filter(|text| !text.is_empty()),
            password: options.secret("password", given)?,
            hosts: parts.hosts.iter().map(host).collect::<Result<_, _>>()?,
            path: decoded(parts.path.unwrap_or_default(), "path")?,
        };
        Ok((address, options))
    }

    /// The URL as every client reads it, secrets included; of the options those that the client
    /// knows, each with its value.
    pub(crate) fn plain_url(&self, scheme: &str, options: &[&str]) -> String {
        let user = self.user.as_deref().map_or_else(String::new, escaped);
        let login = match &self.password {
            Some(password) => format!("{user}:{}@", escaped(password.reveal())),
            None if user.is_empty() => user,
            None => format!("{user}@"),
        };
        let slash = if self.path.is_empty() { "" } else { "/" };
        let mark = if options.is_empty() { "" } else { "?" };
        let (hosts, path, options) =
            (all_shown(&self.hosts), escaped(&self.path), options.join("&"));
        format!("{scheme}://{login}{hosts}{slash}{path}{mark}{options}")
    }
}

fn decoded(scheme: &str, text: &str, part: &'static str) -> Result<String, AddressError> {
    let text = percent_decode_str(text).decode_utf8();
    let text = text.map_err(|_| AddressError::Escapes { scheme: scheme.to_owned(), part })?;
    Ok(text.into_owned())
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(rest: &str) -> Result<(Address, Options), AddressError> {
        Address::parse("postgres", rest, "postgres://db/app", 5432)
    }

    #[test]
    fn every_part_is_found() {
        let (address, _) = parse("me:p%40ss@db-1:5433,[::1]/app?tls=require").expect("it is sound");
        assert_eq!(address.user.as_deref(), Some("me"));
        assert_eq!(address.password.as_ref().map(Secret::reveal), Some("p@ss"));
        assert_eq!(address.hosts, [("db-1".to_owned(), 5433), ("::1".to_owned(), 5432)]);
        assert_eq!(address.path, "app");
    }

    #[test]
    fn what_makes_no_sense_is_named_and_no_password_shown() {
        let cases = [
            ("/app", "postgres:// names no host; write postgres://db/app"),
            ("me:pw@db:70000/app", "postgres address: a port is not a number from 1 to 65535; "),
            ("me:p?w@db/app", "postgres address: an '@' stands after the hosts; in a password "),
            ("me:%ff@db", "postgres address password is not UTF-8 once its %-escapes are read"),
        ];
        for (rest, wanted) in cases {
            let message = parse(rest).expect_err("must be refused").to_string();
            assert!(message.starts_with(wanted), "{message}");
        }
        let shown = format!("{:?}", parse("me:hush@db/app?secret_key=hush").expect("it is sound"));
        assert!(!shown.contains("hush"), "{shown}");
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::new("hush")), "***");
    }
}

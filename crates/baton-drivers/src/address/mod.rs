//! A store's URL, taken apart: `scheme://user:password@host:port,host:port/path?option=value`.
//!
//! ```text
//!   url ──► Address: scheme, user, password, hosts, path
//!             └── Options: each is taken by name; what is left over is refused by name
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
use crate::parts::Parts;

pub use crate::parts::Flaw;

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
    Cut { scheme: String, flaw: Flaw },
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

/// One host, with its port if it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// A name or an address; brackets around IPv6 are taken off.
    pub name: String,
    /// The port, if one was given.
    pub port: Option<u16>,
}

/// A store's URL, taken apart.
#[derive(Debug)]
pub struct Address {
    /// What stands before `://`.
    pub scheme: String,
    /// Who connects.
    pub user: Option<String>,
    /// With which password: from the URL, `password_env` or `password_file`.
    pub password: Option<Secret>,
    /// Where to. At least one, but for `s3://`, whose host is a bucket.
    pub hosts: Vec<Host>,
    /// What stands after the first `/`, without it.
    pub path: String,
    /// What stands after `?`.
    pub options: Options,
}

impl Address {
    /// Takes what follows `scheme://` apart. `example` is shown if no host is named.
    pub fn parse(scheme: &str, rest: &str, example: &'static str) -> Result<Self, AddressError> {
        let parts = Parts::of(rest).map_err(|flaw| match flaw {
            Flaw::NoHost => AddressError::NoHost { scheme: scheme.to_owned(), example },
            flaw => AddressError::Cut { scheme: scheme.to_owned(), flaw },
        })?;
        let decoded = |text: &str, part| decoded(scheme, text, part);
        let user = decoded(parts.user, "user")?;
        let given = decoded(parts.password.unwrap_or_default(), "password")?;
        let given = Some(given).filter(|text| !text.is_empty()).map(Secret::new);
        let mut options = Options::parse(scheme, parts.query)?;
        let host = |(name, port): &(&str, Option<u16>)| {
            Ok(Host { name: decoded(name, "host")?, port: *port })
        };
        Ok(Self {
            scheme: scheme.to_owned(),
            user: Some(user).filter(|text| !text.is_empty()),
            password: options.secret("password", given)?,
            hosts: parts.hosts.iter().map(host).collect::<Result<_, _>>()?,
            path: decoded(parts.path.unwrap_or_default(), "path")?,
            options,
        })
    }

    /// The hosts, each with its port, or with this one if none was given.
    pub(crate) fn hosts_or(&self, port: u16) -> Vec<(String, u16)> {
        self.hosts.iter().map(|host| (host.name.clone(), host.port.unwrap_or(port))).collect()
    }
}

fn decoded(scheme: &str, text: &str, part: &'static str) -> Result<String, AddressError> {
    let text = percent_decode_str(text).decode_utf8();
    let text = text.map_err(|_| AddressError::Escapes { scheme: scheme.to_owned(), part })?;
    Ok(text.into_owned())
}

/// What every client reads of a URL, secrets included; of the options those that the client knows,
/// each with its value.
pub(crate) fn plain_url(
    scheme: &str,
    (user, password): (&Option<String>, &Option<Secret>),
    hosts: &[(String, u16)],
    path: Option<&str>,
    options: &[&str],
) -> String {
    let user = user.as_deref().map_or_else(String::new, escaped);
    let login = match password {
        Some(password) => format!("{user}:{}@", escaped(password.reveal())),
        None if user.is_empty() => user,
        None => format!("{user}@"),
    };
    let path = path.map_or_else(String::new, |path| format!("/{}", escaped(path)));
    let mark = if options.is_empty() { "" } else { "?" };
    format!("{scheme}://{login}{}{path}{mark}{}", all_shown(hosts), options.join("&"))
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(rest: &str) -> Result<Address, AddressError> {
        Address::parse("postgres", rest, "postgres://db/app")
    }

    #[test]
    fn every_part_is_found() {
        let address = parse("me:p%40ss@db-1:5433,[::1]/app?tls=require").expect("it is sound");
        assert_eq!(address.user.as_deref(), Some("me"));
        assert_eq!(address.password.as_ref().map(Secret::reveal), Some("p@ss"));
        let hosts: Vec<(&str, Option<u16>)> =
            address.hosts.iter().map(|host| (host.name.as_str(), host.port)).collect();
        assert_eq!(hosts, [("db-1", Some(5433)), ("::1", None)]);
        assert_eq!(address.path, "app");
    }

    #[test]
    fn what_makes_no_sense_is_named_and_no_password_shown() {
        let cases = [
            ("/app", "postgres:// names no host; write postgres://db/app"),
            ("me:pw@db:70000/app", "postgres address: a port is not a number from 1 to 65535; "),
            ("me:p?w@db/app", "postgres address: there is an '@' after the hosts; in a password "),
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

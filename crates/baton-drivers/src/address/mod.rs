//! A store's URL, taken apart: `scheme://user:password@host:port,host:port/path?option=value`.
//!
//! ```text
//!   url ──► Address: scheme, user, password, hosts, path
//!             └── Options: each is taken by name; what is left over is refused by name
//!   secrets come from the URL, from a variable (…_env=NAME) or from a file (…_file=PATH)
//! ```
//!
//! Nothing here is ever shown with a password in it.

mod options;
mod secret;

pub use options::Options;
pub use secret::Secret;

use percent_encoding::percent_decode_str;

/// What is wrong with a URL. One line, and no secret in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message says what its variant and fields mean")]
pub enum AddressError {
    #[error("{scheme}:// names no host; write {example}")]
    NoHost { scheme: String, example: &'static str },
    #[error("{scheme} port {port:?} is not a number from 1 to 65535")]
    Port { scheme: String, port: String },
    #[error("{scheme} address {part} is not UTF-8 once its %-escapes are read")]
    Escapes { scheme: String, part: &'static str },
    #[error("{scheme} option {name:?} is unknown; known are {known}")]
    UnknownOption { scheme: String, name: String, known: String },
    #[error("{scheme} option {name} is {value:?}; {wanted}")]
    Value { scheme: String, name: &'static str, value: String, wanted: String },
    #[error("{scheme} options {first} and {second} are both given; give one")]
    Both { scheme: String, first: String, second: String },
    #[error("{scheme} option {name} names the variable {variable}, which is not set")]
    NoVariable { scheme: String, name: String, variable: String },
    #[error("{scheme} option {name}: {path} cannot be read ({problem})")]
    NoFile { scheme: String, name: String, path: String, problem: String },
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
    /// Takes what follows `scheme://` apart. `example` is shown to whoever names no host.
    pub fn parse(scheme: &str, rest: &str, example: &'static str) -> Result<Self, AddressError> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (Some(login), hosts),
            None => (None, authority),
        };
        if hosts.is_empty() {
            return Err(AddressError::NoHost { scheme: scheme.to_owned(), example });
        }
        let decoded = |text: &str, part| decoded(scheme, text, part);
        let (user, given) = match login.map(|login| login.split_once(':').unwrap_or((login, ""))) {
            Some((user, password)) => (decoded(user, "user")?, decoded(password, "password")?),
            None => (String::new(), String::new()),
        };
        let mut options = Options::parse(scheme, query)?;
        let given = Some(given).filter(|text| !text.is_empty()).map(Secret::new);
        Ok(Self {
            scheme: scheme.to_owned(),
            user: Some(user).filter(|text| !text.is_empty()),
            password: options.secret("password", given)?,
            hosts: hosts
                .split(',')
                .map(|host| parse_host(scheme, host))
                .collect::<Result<_, _>>()?,
            path: decoded(path, "path")?,
            options,
        })
    }

    /// The first host and its port, as clients write it.
    pub fn first(&self, port: u16) -> (String, u16) {
        let host = &self.hosts[0];
        (host.name.clone(), host.port.unwrap_or(port))
    }
}

fn parse_host(scheme: &str, text: &str) -> Result<Host, AddressError> {
    let wrong =
        |port: &str| AddressError::Port { scheme: scheme.to_owned(), port: port.to_owned() };
    let port = |port: &str| match port.parse() {
        Ok(0) | Err(_) => Err(wrong(port)),
        Ok(number) => Ok(Some(number)),
    };
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (name, after) = match bracketed {
        Some((name, after)) => (name, after.strip_prefix(':')),
        None => match text.rsplit_once(':') {
            Some((name, after)) => (name, Some(after)),
            None => (text, None),
        },
    };
    let port = after.map_or(Ok(None), port)?;
    Ok(Host { name: decoded(scheme, name, "host")?, port })
}

fn decoded(scheme: &str, text: &str, part: &'static str) -> Result<String, AddressError> {
    let text = percent_decode_str(text).decode_utf8();
    let text = text.map_err(|_| AddressError::Escapes { scheme: scheme.to_owned(), part })?;
    Ok(text.into_owned())
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
            ("me:pw@db:70000/app", "postgres port \"70000\" is not a number from 1 to 65535"),
            ("db:0", "postgres port \"0\" is not a number from 1 to 65535"),
            ("me:%ff@db", "postgres address password is not UTF-8 once its %-escapes are read"),
        ];
        for (rest, wanted) in cases {
            assert_eq!(parse(rest).expect_err("must be refused").to_string(), wanted);
        }
        let shown = format!("{:?}", parse("me:hush@db/app?secret_key=hush").expect("it is sound"));
        assert!(!shown.contains("hush"), "{shown}");
    }
}

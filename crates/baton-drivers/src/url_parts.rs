//! A store's URL, cut into its parts as they were written, and refused where a cut is in doubt.
//!
//! ```text
//!   scheme://user:password@host:port,host:port/path?name=value&name=value
//! ```
//!
//! A password may hold what ends a part, unescaped: `me:p?w@db/app` would be the host `me` with
//! the port `p` and the option `w@db/app`. Nothing may be shown of a URL that can be cut in two
//! ways, so an `@` after the hosts is refused, and so is a port that is no number.

/// Why a URL cannot be cut into its parts. Says nothing of what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(
    feature = "network",
    expect(missing_docs, reason = "each message says what its variant means")
)]
pub enum MalformedUrl {
    #[error("a host has a character that host names cannot have")]
    Host,
    #[error("a port is not a number from 1 to 65535")]
    Port,
    #[error("an '@' stands after the hosts")]
    At,
}

/// The parts, with their escapes.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct UrlParts<'a> {
    pub(crate) user: &'a str,
    pub(crate) password: Option<&'a str>,
    /// At least one, IPv6 without its brackets.
    pub(crate) hosts: Vec<(&'a str, Option<u16>)>,
    /// The hosts as they stand there.
    pub(crate) hosts_text: &'a str,
    /// What stands between the first `/` and the `?`, if there is a `/`.
    pub(crate) path: Option<&'a str>,
    pub(crate) query: &'a str,
}

impl<'a> UrlParts<'a> {
    /// Cuts what follows `scheme://`; `None` if it names no host.
    pub(crate) fn of(rest: &'a str) -> Result<Option<Self>, MalformedUrl> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match place.split_once('/') {
            Some((authority, path)) => (authority, Some(path)),
            None => (place, None),
        };
        if query.contains('@') || path.is_some_and(|path| path.contains('@')) {
            return Err(MalformedUrl::At);
        }
        let (login, hosts_text) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = match login.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (login, None),
        };
        let hosts = hosts_text.split(',').map(host).collect::<Result<Vec<_>, _>>()?;
        let names_all = hosts.iter().all(|(name, _)| !name.is_empty());
        Ok(names_all.then_some(Self { user, password, hosts, hosts_text, path, query }))
    }
}

/// The options of what stands after `?`, each with its value if there is a `=`.
pub(crate) fn options(query: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    query.split('&').filter(|option| !option.is_empty()).map(|option| {
        option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)))
    })
}

/// Does it look like the name of an option, and not like a piece of a password?
pub(crate) fn is_plain_name(name: &str) -> bool {
    const LONGEST: usize = 24;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(plain)
}

/// Does it name the place of a secret, and is it not the secret itself?
pub(crate) fn is_variable(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.bytes().all(plain)
}

/// The same of a file: a path has a folder in it.
pub(crate) fn is_path(path: &str) -> bool {
    path.contains('/')
}

fn host(text: &str) -> Result<(&str, Option<u16>), MalformedUrl> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (name, port) = match bracketed {
        Some((name, "")) => (name, None),
        Some((name, after)) => (name, Some(after.strip_prefix(':').ok_or(MalformedUrl::Host)?)),
        None => match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    };
    let of_a_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '%');
    if !name.chars().all(|c| of_a_name(c) || (bracketed.is_some() && c == ':')) {
        return Err(MalformedUrl::Host);
    }
    match port.map(str::parse::<u16>) {
        None => Ok((name, None)),
        Some(Ok(port)) if port > 0 => Ok((name, Some(port))),
        Some(_) => Err(MalformedUrl::Port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_that_is_in_doubt_is_refused() {
        let cases = [
            ("me:p?w@db/app", MalformedUrl::At),
            ("me:12/w@db/app", MalformedUrl::At),
            ("me@db/app?pwd=a@b", MalformedUrl::At),
            ("me:word/app", MalformedUrl::Port),
            ("db:0", MalformedUrl::Port),
            ("db:70000", MalformedUrl::Port),
            ("me:p w@d b/app", MalformedUrl::Host),
            ("::1/app", MalformedUrl::Host),
            ("[::1]x", MalformedUrl::Host),
        ];
        for (rest, flaw) in cases {
            assert_eq!(UrlParts::of(rest).err(), Some(flaw), "{rest}");
        }
        for hostless in ["", "/app", "a,,b/app"] {
            assert!(matches!(UrlParts::of(hostless), Ok(None)), "{hostless}");
        }
        let parts = UrlParts::of("me:a@b:c@db-1:5433,[::1]/app?x=1&y").expect("one cut");
        let parts = parts.expect("it names hosts");
        assert_eq!((parts.user, parts.password), ("me", Some("a@b:c")));
        assert_eq!(parts.hosts, [("db-1", Some(5433)), ("::1", None)]);
        assert_eq!(options(parts.query).collect::<Vec<_>>(), [("x", Some("1")), ("y", None)]);
    }
}

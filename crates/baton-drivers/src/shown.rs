//! What of a store's URL may be seen: by people, and by the command that a node runs.
//!
//! Only what is known to be harmless is shown. A URL that cannot be cut into its parts is not
//! shown at all, but for its scheme if that is one of ours.

use crate::open::is_scheme;
use crate::url_parts::{UrlParts, is_path, is_plain_name, is_variable, options};

/// What stands in the place of what is not shown.
const HIDDEN: &str = "***";

/// The options whose values are shown. Whatever is not here may be a secret.
const HARMLESS: [&str; 21] = [
    "appendfsync",
    "application_name",
    "busy_timeout_ms",
    "endpoint",
    "lease_key",
    "password_env",
    "password_file",
    "path_style",
    "prefix",
    "region",
    "schema",
    "secret_key_env",
    "secret_key_file",
    "session_token_env",
    "session_token_file",
    "table_prefix",
    "timeout_ms",
    "tls",
    "tls_ca",
    "tls_cert",
    "tls_key",
];

/// The URL for people and logs: without passwords, keys, and values that may be one.
///
/// ```
/// use baton_drivers::shown;
/// assert_eq!(shown("postgres://me:hush@db/app?pwd=hush"), "postgres://me:***@db/app?pwd=***");
/// assert_eq!(shown("postgres:me:hush@db/app"), "postgres://***");
/// ```
pub fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        // Perhaps it is one of ours, and something is wrong with what follows it.
        let scheme = url.split_once([':', '/']).map(|(scheme, _)| scheme);
        let scheme = scheme.filter(|scheme| is_scheme(scheme));
        return scheme.map_or_else(|| HIDDEN.to_owned(), |scheme| format!("{scheme}://{HIDDEN}"));
    };
    let hidden = || format!("{scheme}://{HIDDEN}");
    match scheme {
        "memory" if rest.is_empty() => url.to_owned(),
        "memory" => hidden(),
        "sqlite" if looks_like_login(rest) => hidden(),
        "sqlite" => {
            let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
            format!("{scheme}://{path}{}", question(options(query).map(option)))
        }
        _ => match UrlParts::of(rest) {
            Ok(Some(parts)) => of_server(scheme, &parts),
            _ => hidden(),
        },
    }
}

fn of_server(scheme: &str, parts: &UrlParts<'_>) -> String {
    let has_option = options(parts.query).any(|(name, _)| name.starts_with("password"));
    let login = match (parts.user, parts.password) {
        ("", None) => String::new(),
        // A password may stand where the user is to: `redis://hush@cache`, or a ':' was forgotten.
        (_, None) if !has_option => format!("{HIDDEN}@"),
        (user, None) => format!("{user}@"),
        (user, Some(_)) => format!("{user}:{HIDDEN}@"),
    };
    let path = parts.path.map_or_else(String::new, |path| format!("/{path}"));
    let query = question(options(parts.query).map(option));
    format!("{scheme}://{login}{}{path}{query}", parts.hosts_text)
}

fn option((name, value): (&str, Option<&str>)) -> String {
    match value {
        Some(value) if is_harmless(name, value) => format!("{name}={value}"),
        Some(_) if is_plain_name(name) => format!("{name}={HIDDEN}"),
        _ => HIDDEN.to_owned(),
    }
}

fn is_harmless(name: &str, value: &str) -> bool {
    HARMLESS.contains(&name)
        && match name {
            // An escaped login may be in it.
            "endpoint" => !value.contains('%'),
            name if name.ends_with("_env") => is_variable(value),
            name if name.ends_with("_file") => is_path(value),
            _ => true,
        }
}

fn question(options: impl Iterator<Item = String>) -> String {
    let options: Vec<String> = options.collect();
    if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) }
}

/// Does what follows `sqlite://` begin with a user and a host, and not with a file?
pub(crate) fn looks_like_login(location: &str) -> bool {
    location.split('/').next().is_some_and(|first| first.contains(['@', ':']))
}

/// The URL without the secrets that stand in it. A process that gets it reads the password from
/// what `password_file`, `password_env` and their like name.
pub fn without_secrets(url: &str) -> String {
    let of_server =
        |(scheme, _): &(&str, &str)| is_scheme(scheme) && !matches!(*scheme, "sqlite" | "memory");
    let cut = url.split_once("://").filter(of_server);
    let cut = cut.and_then(|(scheme, rest)| Some((scheme, UrlParts::of(rest).ok()??)));
    let Some((scheme, parts)) = cut else { return shown(url) };
    let login = match parts.user {
        "" => String::new(),
        user => format!("{user}@"),
    };
    // Half of a pair of keys would be refused.
    let has_key = options(parts.query).any(|(name, _)| name == "secret_key");
    let kept = options(parts.query).filter_map(|(name, value)| {
        let value = value.filter(|value| match name {
            "access_key" => !has_key,
            name => is_harmless(name, value),
        });
        Some(format!("{name}={}", value?))
    });
    let path = parts.path.map_or_else(String::new, |path| format!("/{path}"));
    format!("{scheme}://{login}{}{path}{}", parts.hosts_text, question(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_be_harmless_is_shown() {
        let cases = [
            ("sqlite:///a/b.db", "sqlite:///a/b.db"),
            ("sqlite://b.db?busy_timeout_ms=5&x=y", "sqlite://b.db?busy_timeout_ms=5&x=***"),
            ("sqlite://me:hush@db/x", "sqlite://***"),
            ("sqlite://me:a/hush@db/x", "sqlite://***"),
            ("memory://", "memory://"),
            ("memory://hush", "memory://***"),
            ("postgres://me:se@cret@db:5432/x", "postgres://me:***@db:5432/x"),
            ("postgres://me@db/x?password=y&tls=off", "postgres://me@db/x?password=***&tls=off"),
            ("postgres://me@db/x?pwd=hush", "postgres://***@db/x?pwd=***"),
            ("postgres://me:a?hush@db/x", "postgres://***"),
            ("postgres://me:a/hush@db/x", "postgres://***"),
            ("postgres:me:hush@db/x", "postgres://***"),
            ("postgres//me:hush@db/x", "postgres://***"),
            ("postgress://me:hush@db/x", "***"),
            ("me:hush@db", "***"),
            ("redis://:hush@cache", "redis://:***@cache"),
            ("redis://hush@cache", "redis://***@cache"),
            ("redis://me@cache?password_env=hush", "redis://me@cache?password_env=***"),
            ("redis://me@cache?password_file=/p", "redis://me@cache?password_file=/p"),
            ("s3://b?secret_key=abc&access_key=k", "s3://b?secret_key=***&access_key=***"),
            ("s3://b?endpoint=http://h:9", "s3://b?endpoint=http://h:9"),
            ("s3://b?endpoint=http://a:hush%40h", "s3://b?endpoint=***"),
            ("etcd://a:1,b:2/p?HUSH=x&hush", "etcd://a:1,b:2/p?***&***"),
        ];
        for (url, expected) in cases {
            assert_eq!(shown(url), expected, "{url}");
        }
    }

    #[test]
    fn without_its_secrets_a_url_still_names_the_store() {
        let cases = [
            ("sqlite:///a/b.db?busy_timeout_ms=5", "sqlite:///a/b.db?busy_timeout_ms=5"),
            ("postgres://me:hush@db/x?tls=off", "postgres://me@db/x?tls=off"),
            ("postgres://me@db/x?password=hush", "postgres://me@db/x"),
            ("mysql://me@db/x?pwd=hush&endpoint=x%40y", "mysql://me@db/x"),
            ("mysql://me@db/x?password_env=PW", "mysql://me@db/x?password_env=PW"),
            ("redis://:hush@cache/3", "redis://cache/3"),
            ("s3://b/p?access_key=k&secret_key=hush&region=r", "s3://b/p?region=r"),
            (
                "s3://b?access_key=k&secret_key_file=/s&session_token=hush",
                "s3://b?access_key=k&secret_key_file=/s",
            ),
        ];
        for (url, expected) in cases {
            assert_eq!(without_secrets(url), expected, "{url}");
        }
    }
}

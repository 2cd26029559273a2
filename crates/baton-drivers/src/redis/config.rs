//! The URL's options, as plain data.

use std::time::Duration;

use crate::OpenError;
use crate::address::{Address, AddressError, Secret};
use crate::driver::all_shown;
use crate::tls::TlsFiles;

const EXAMPLE: &str = "redis://host:6379/0";

const PORT: u16 = 6379;

/// What stands before every key, if nothing else is said.
const PREFIX: &str = "baton:";

#[derive(Clone, Debug)]
pub(super) struct RedisConfig {
    pub(super) hosts: Vec<(String, u16)>,
    pub(super) user: Option<String>,
    pub(super) password: Option<Secret>,
    pub(super) database: i64,
    /// `rediss://` speaks TLS.
    pub(super) tls: Option<TlsFiles>,
    /// Bounds every call, connecting included.
    pub(super) timeout: Duration,
    /// What stands before every key and channel.
    pub(super) prefix: String,
    /// The key of the lease, if it is not to be one of the prefix's; `{namespace}` in it stands for
    /// the namespace.
    pub(super) lease_key: Option<String>,
    /// Must the server sync every write? Then its restart loses nothing.
    pub(super) syncs: bool,
}

impl RedisConfig {
    pub(super) fn parse(scheme: &str, rest: &str) -> Result<Self, AddressError> {
        let (address, mut options) = Address::parse(scheme, rest, EXAMPLE, PORT)?;
        let timeout = options.timeout()?;
        let prefix = options.take("prefix").unwrap_or_else(|| PREFIX.to_owned());
        if prefix.contains(['{', '}']) {
            let wanted = "leave braces out: the namespace stands in braces after it";
            return Err(options.wrong("prefix", &prefix, wanted));
        }
        let lease_key = options.take("lease_key");
        if let Some(key) = lease_key.as_deref().filter(|key| key.is_empty()) {
            return Err(options.wrong("lease_key", key, "name a key, or leave the option out"));
        }
        let syncs = match options.take("appendfsync").as_deref() {
            None => false,
            Some("always") => true,
            Some(other) => {
                let wanted = "give always, if the server has it, or leave the option out";
                return Err(options.wrong("appendfsync", other, wanted));
            }
        };
        let files = TlsFiles::take(&mut options)?;
        if scheme == "redis" && files.any() {
            let shown = files.ca.or(files.cert).unwrap_or_default().display().to_string();
            return Err(options.wrong("tls_ca", &shown, "write rediss:// for TLS"));
        }
        let database = match address.path.as_str() {
            "" => 0,
            text => text.parse::<u16>().map(i64::from).map_err(|_| {
                let wanted = "give the number of a database, such as /0";
                options.wrong("database", text, wanted)
            })?,
        };
        options.finish()?;
        Ok(Self {
            hosts: address.hosts,
            user: address.user,
            password: address.password,
            database,
            tls: (scheme == "rediss").then_some(files),
            timeout,
            prefix,
            lease_key,
            syncs,
        })
    }

    pub(super) fn place(&self) -> String {
        all_shown(&self.hosts)
    }
}

/// The URL as the `redis` crate takes it: of the first host.
pub(crate) fn client_url(scheme: &str, rest: &str) -> Result<String, OpenError> {
    let config = RedisConfig::parse(scheme, rest)?;
    let RedisConfig { user, password, mut hosts, database, .. } = config;
    hosts.truncate(1);
    let address = Address { user, password, hosts, path: database.to_string() };
    Ok(address.plain_url(scheme, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_a_default() {
        let config = RedisConfig::parse("redis", "cache").expect("it is sound");
        assert_eq!(config.hosts, [("cache".to_owned(), 6379)]);
        assert_eq!((config.database, config.timeout), (0, Duration::from_millis(1_500)));
        assert_eq!((config.prefix.as_str(), config.lease_key), ("baton:", None));
        assert_eq!((config.tls, config.syncs), (None, false));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let cases = [
            ("h?prefix={x}", "redis option prefix is \"{x}\"; leave braces out"),
            ("h?lease_key=", "redis option lease_key is \"\"; name a key"),
            ("h?appendfsync=everysec", "redis option appendfsync is \"everysec\"; give always"),
            ("h?tls_ca=/ca.pem", "redis option tls_ca is \"/ca.pem\"; write rediss:// for TLS"),
            ("h/seven", "redis option database is \"seven\"; give the number of a database"),
            ("h?timeout_ms=0", "redis option timeout_ms is \"0\"; give whole milliseconds"),
            ("h?colour=red", "redis option \"colour\" is unknown; known are password, "),
        ];
        for (rest, wanted) in cases {
            let message =
                RedisConfig::parse("redis", rest).expect_err("must be refused").to_string();
            assert!(message.starts_with(wanted), "{rest} gave {message:?}");
        }
    }
}

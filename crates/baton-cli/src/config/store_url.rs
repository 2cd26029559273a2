//! The store's URL: where it is by default, what of it may be shown, which file it names.

use std::fmt;
use std::net::{IpAddr, UdpSocket};
use std::path::{Path, PathBuf};

use super::ConfigError;
use super::environment::Environment;

const SQLITE: &str = "sqlite://";

/// Where a store is. Shown without what is, or may be, a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// The URL as it was given.
    pub fn new(url: &str) -> Self {
        Self(url.to_owned())
    }

    /// A file in the user's state folder.
    pub fn default_for(environment: &Environment) -> Result<Self, ConfigError> {
        let state = environment.get("XDG_STATE_HOME").map(PathBuf::from);
        let state = state.filter(|folder| folder.is_absolute());
        let home = environment.get("HOME").map(|home| Path::new(home).join(".local/state"));
        let folder = state.or(home).ok_or(ConfigError::NoHome)?.join("baton");
        Ok(Self(format!("{SQLITE}{}", folder.join("baton.db").display())))
    }

    /// With the password, for the driver alone.
    pub fn with_secrets(&self) -> &str {
        &self.0
    }

    /// Without the secrets that stand in it, for the command that a node runs.
    pub fn without_secrets(&self) -> String {
        baton_drivers::without_secrets(&self.0)
    }

    /// Is it on another host than this one, as far as its name tells?
    pub fn is_elsewhere(&self) -> bool {
        baton_drivers::server_hosts(&self.0).iter().any(|host| !is_this_host(host))
    }

    /// The file it names, if it names one.
    pub fn file(&self) -> Option<&Path> {
        let rest = self.0.strip_prefix(SQLITE)?;
        // What is no path is refused by the driver, which does not repeat it.
        baton_drivers::sqlite::SqliteConfig::parse(rest).ok()?;
        Some(Path::new(rest.split_once('?').map_or(rest, |(path, _)| path)))
    }
}

/// Does this name or address mean this very host? A name but `localhost` is taken for another one.
fn is_this_host(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        // Only an address of this host can be bound to.
        Ok(ip) => ip.to_canonical().is_loopback() || UdpSocket::bind((ip, 0)).is_ok(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&baton_drivers::shown(&self.0))
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let url = StoreUrl::new("postgres://me:hush@db:5432/x?pwd=hush");
        let expected = "postgres://me:***@db:5432/x?pwd=***";
        assert_eq!((url.to_string(), format!("{url:?}")), (expected.into(), expected.into()));
    }

    #[test]
    fn the_default_is_in_the_state_folder() {
        let with = |pairs: &[(&str, &str)]| {
            let own = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
            StoreUrl::default_for(&pairs.iter().map(own).collect()).map(|url| url.0)
        };
        let home = with(&[("HOME", "/home/me"), ("XDG_STATE_HOME", "relative")]);
        assert_eq!(home.expect("a home"), "sqlite:///home/me/.local/state/baton/baton.db");
        let state = with(&[("HOME", "/home/me"), ("XDG_STATE_HOME", "/state")]);
        assert_eq!(state.expect("a state folder"), "sqlite:///state/baton/baton.db");
        assert!(matches!(with(&[]), Err(ConfigError::NoHome)));
    }

    #[test]
    fn a_store_is_elsewhere_unless_its_host_is_this_one() {
        let elsewhere = |url| StoreUrl::new(url).is_elsewhere();
        for here in
            ["sqlite:///a/b.db", "memory://", "postgres://me@localhost/app", "redis://[::1]"]
        {
            assert!(!elsewhere(here), "{here}");
        }
        for there in ["postgres://db/app", "etcd://127.0.0.1,192.0.2.7:2379", "s3://bucket"] {
            assert!(elsewhere(there), "{there}");
        }
    }

    #[test]
    fn the_file_is_found_in_the_url() {
        let file = |url| StoreUrl::new(url).file().map(Path::to_owned);
        assert_eq!(file("sqlite:///a/b.db?busy_timeout_ms=1"), Some(PathBuf::from("/a/b.db")));
        assert_eq!(file("sqlite://b.db"), Some(PathBuf::from("b.db")));
        assert_eq!(file("redis://cache"), None);
        assert_eq!(file("sqlite://me:hush@db/x"), None);
    }
}

//! Which cluster, which user, and which prefix.

use std::time::Duration;

use crate::address::{Address, AddressError, Host, Secret};
use crate::tls::TlsFiles;

/// What a URL looks like.
const EXAMPLE: &str = "etcd://host:2379";

/// Where keys begin, if nothing else is said.
const PREFIX: &str = "baton";

/// How long a call may take, if nothing else is said.
const TIMEOUT: Duration = Duration::from_millis(1_500);

/// What a handle needs to know. Plain data; its `Debug` shows no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EtcdConfig {
    /// `http://host:port` or `https://host:port`, at least one.
    pub(super) endpoints: Vec<String>,
    /// The hosts, for messages.
    pub(super) place: String,
    /// User and password, if the server asks for them.
    pub(super) login: Option<(String, Secret)>,
    /// What every key begins with, without a slash at its end.
    pub(super) prefix: String,
    /// The files to go by, if the connection is encrypted.
    pub(super) tls: Option<TlsFiles>,
    /// How long any call may take.
    pub(super) timeout: Duration,
    /// Is every host this machine itself?
    pub(super) local: bool,
}

impl EtcdConfig {
    /// What follows `etcd://` in a URL.
    pub(super) fn from_location(scheme: &str, rest: &str) -> Result<Self, AddressError> {
        let mut address = Address::parse(scheme, rest, EXAMPLE)?;
        let options = &mut address.options;
        let timeout = options.milliseconds("timeout_ms")?.unwrap_or(TIMEOUT);
        let files = TlsFiles::take(options)?;
        let tls = match options.take("tls").as_deref() {
            Some("verify") => Some(files),
            Some("off") if files.any() => {
                return Err(options.wrong("tls", "off", "give verify, or leave the tls files out"));
            }
            Some("off") => None,
            Some(other) => return Err(options.wrong("tls", other, "give off or verify")),
            None => files.any().then_some(files),
        };
        let prefix = prefix(&address)?;
        address.options.finish()?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let hosts: Vec<String> = address.hosts.iter().map(host_and_port).collect();
        let password = address.password.unwrap_or_else(|| Secret::new(""));
        Ok(Self {
            endpoints: hosts.iter().map(|host| format!("{scheme}://{host}")).collect(),
            place: hosts.join(","),
            login: address.user.map(|user| (user, password)),
            prefix,
            tls,
            timeout,
            local: address.hosts.iter().all(is_local),
        })
    }
}

fn host_and_port(host: &Host) -> String {
    let port = host.port.unwrap_or(2379);
    match host.name.contains(':') {
        true => format!("[{}]:{port}", host.name),
        false => format!("{}:{port}", host.name),
    }
}

fn is_local(host: &Host) -> bool {
    let address: Option<std::net::IpAddr> = host.name.parse().ok();
    host.name == "localhost" || address.is_some_and(|address| address.is_loopback())
}

fn prefix(address: &Address) -> Result<String, AddressError> {
    let given = address.path.trim_end_matches('/');
    if given.is_empty() {
        return Ok(PREFIX.to_owned());
    }
    let sound = |part: &str| !part.is_empty() && part.chars().all(is_sound);
    match given.split('/').all(sound) {
        true => Ok(given.to_owned()),
        false => {
            let wanted = "use letters, digits, '.', '_', ':', '-', and '/' between them";
            Err(address.options.wrong("prefix", given, wanted))
        }
    }
}

fn is_sound(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | ':' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rest: &str) -> Result<EtcdConfig, AddressError> {
        EtcdConfig::from_location("etcd", rest)
    }

    #[test]
    fn every_part_finds_its_place() {
        let plain = read("127.0.0.1").expect("it is sound");
        assert_eq!(plain.endpoints, ["http://127.0.0.1:2379"]);
        assert_eq!((plain.prefix.as_str(), plain.timeout, plain.local), (PREFIX, TIMEOUT, true));
        let full = read("me:hush@a:1,[::2]:2/apps/one/?tls=verify&timeout_ms=20");
        let full = full.expect("it is sound");
        assert_eq!(full.endpoints, ["https://a:1", "https://[::2]:2"]);
        assert_eq!((full.prefix.as_str(), full.place.as_str()), ("apps/one", "a:1,[::2]:2"));
        assert_eq!(full.timeout, Duration::from_millis(20));
        assert!(!full.local && full.login.is_some());
        assert!(!format!("{full:?}").contains("hush"), "{full:?}");
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let cases = [
            ("a/x//y", "etcd option prefix is \"x//y\"; use letters, digits"),
            ("a/a%20b", "etcd option prefix is \"a b\"; use letters, digits"),
            ("a?tls=maybe", "etcd option tls is \"maybe\"; give off or verify"),
            ("a?tls=off&tls_ca=x", "etcd option tls is \"off\"; give verify, or leave"),
            ("a?lease=3", "etcd option \"lease\" is unknown; known are "),
            ("", "etcd:// names no host; write etcd://host:2379"),
        ];
        for (rest, wanted) in cases {
            let refused = read(rest).expect_err("must be refused").to_string();
            assert!(refused.starts_with(wanted), "{rest} gave {refused:?}");
        }
    }
}

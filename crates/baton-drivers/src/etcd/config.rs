//! Which cluster, which user, and which prefix.

use std::time::Duration;

use crate::address::{Address, AddressError, Options, Secret};
use crate::driver::{all_shown, is_this_machine, shown};
use crate::tls::{TlsFiles, TlsMode};

const EXAMPLE: &str = "etcd://host:2379";

const PORT: u16 = 2379;

/// Where keys begin, if nothing else is said.
const PREFIX: &str = "baton";

/// The values of the option `tls`, the default first.
const TLS_MODES: [(&str, TlsMode); 2] = [("off", TlsMode::Off), ("verify", TlsMode::Verify)];

/// What a handle needs to know. Plain data; its `Debug` shows no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EtcdConfig {
    /// `http://host:port` or `https://host:port`, at least one.
    pub(super) endpoints: Vec<String>,
    pub(super) place: String,
    /// User and password, if the server asks for them.
    pub(super) login: Option<(String, Secret)>,
    /// What every key begins with, without a slash at its end.
    pub(super) prefix: String,
    /// The files to go by, if the connection is encrypted.
    pub(super) tls: Option<TlsFiles>,
    pub(super) timeout: Duration,
    /// Is every host this machine itself?
    pub(super) local: bool,
}

impl EtcdConfig {
    pub(super) fn parse(scheme: &str, rest: &str) -> Result<Self, AddressError> {
        let (address, mut options) = Address::parse(scheme, rest, EXAMPLE, PORT)?;
        let timeout = options.timeout()?;
        let files = TlsFiles::take(&mut options)?;
        let mode = TlsMode::take(&mut options, &files, &TLS_MODES, "give off or verify")?;
        if mode == TlsMode::Off && files.any() {
            return Err(options.wrong("tls", "off", "give verify, or leave the tls files out"));
        }
        let tls = (mode == TlsMode::Verify).then_some(files);
        let prefix = prefix(&address.path, &options)?;
        options.finish()?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let password = address.password.unwrap_or_else(|| Secret::new(""));
        Ok(Self {
            login: address.user.map(|user| (user, password)),
            endpoints: address
                .hosts
                .iter()
                .map(|host| format!("{scheme}://{}", shown(host)))
                .collect(),
            place: all_shown(&address.hosts),
            prefix,
            tls,
            timeout,
            local: address.hosts.iter().all(|(name, _)| is_this_machine(name)),
        })
    }
}

fn prefix(path: &str, options: &Options) -> Result<String, AddressError> {
    let given = path.trim_end_matches('/');
    if given.is_empty() {
        return Ok(PREFIX.to_owned());
    }
    let sound = |part: &str| !part.is_empty() && part.chars().all(is_sound);
    match given.split('/').all(sound) {
        true => Ok(given.to_owned()),
        false => {
            let wanted = "use letters, digits, '.', '_', ':', '-', and '/' between them";
            Err(options.wrong("prefix", given, wanted))
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
        EtcdConfig::parse("etcd", rest)
    }

    #[test]
    fn every_part_finds_its_place() {
        let plain = read("127.0.0.1").expect("it is sound");
        assert_eq!(plain.endpoints, ["http://127.0.0.1:2379"]);
        assert_eq!(
            (plain.prefix.as_str(), plain.timeout.as_millis(), plain.local),
            (PREFIX, 1_500, true)
        );
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

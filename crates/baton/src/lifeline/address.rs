//! A lifeline's address: spelt in one way, and with the network in which it is the process's own.
//!
//! ```text
//!   10.1.2.3:7000@<machine's boot>.<network namespace>    where the process itself listens
//!   10.1.2.3:7000                                         what others dial, or an unknown network
//! ```

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::str::FromStr;

/// A socket address, and the network it was told in if the process itself listens on it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    socket: SocketAddr,
    network: Option<String>,
}

impl Address {
    /// The address of a socket that this process listens on, as it is told to others.
    pub fn of(socket: SocketAddr) -> Self {
        Self { socket: canonical(socket), network: this_network() }
    }

    /// The address that others are told to dial, for a socket that is bound to another one. Unless
    /// it is certain that the process listens on it, a refusal there may be another process's.
    pub fn advertised(socket: SocketAddr, bound: SocketAddr) -> Self {
        let (socket, bound) = (canonical(socket), canonical(bound));
        let any = bound.ip().is_unspecified() && socket.is_ipv4() == bound.is_ipv4();
        let every = any && socket.port() == bound.port() && is_assigned(socket);
        let network = if socket == bound || every { this_network() } else { None };
        Self { socket, network }
    }

    /// Where to dial; `None` if the address means something else from here, or nothing at all.
    pub fn dialable(&self) -> Option<SocketAddr> {
        let ip = self.socket.ip();
        let placed = !ip.is_unspecified() && (self.is_of_this_network() || !is_local_only(ip));
        placed.then_some(self.socket)
    }

    /// Is it an address of this very host, on which the process that told it listens itself? Then
    /// no network lies between, and a refusal is the kernel's own word.
    pub fn is_own_host(&self) -> bool {
        self.is_of_this_network() && is_assigned(self.socket)
    }

    /// The address without its port, if it means another process on another host.
    pub fn local_only(&self) -> Option<IpAddr> {
        Some(self.socket.ip()).filter(|ip| is_local_only(*ip))
    }

    /// May the process that told this address reach one of the network of that other address? Not
    /// if the networks are known to differ, or that other one is unknown.
    pub fn may_share_network(&self, other: &Self) -> bool {
        other.network.is_some() && (self.network.is_none() || self.network == other.network)
    }

    /// An unknown network is no network: two of them need not be the same one.
    fn is_of_this_network(&self) -> bool {
        self.network.is_some() && self.network == this_network()
    }
}

/// One spelling of an address: IPv4 in IPv6 is IPv4, and only a link-local address has a scope.
pub fn canonical(socket: SocketAddr) -> SocketAddr {
    let mut plain = SocketAddr::new(socket.ip().to_canonical(), socket.port());
    if let (SocketAddr::V6(plain), SocketAddr::V6(given)) = (&mut plain, socket)
        && plain.ip().is_unicast_link_local()
    {
        plain.set_scope_id(given.scope_id());
    }
    plain
}

/// Does the same address mean another process on another host?
fn is_local_only(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unicast_link_local(),
    }
}

/// Has this host this address? The kernel says from where it would reach it: from itself. Nothing
/// is sent.
fn is_assigned(socket: SocketAddr) -> bool {
    let ip = socket.ip();
    let any: IpAddr = match ip {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let source = || {
        let probe = UdpSocket::bind((any, 0))?;
        probe.connect(socket)?;
        probe.local_addr()
    };
    ip.is_loopback() || source().is_ok_and(|from| from.ip().to_canonical() == ip)
}

/// This process's network: the machine's boot, and the network namespace on it. `None` if either
/// cannot be read.
fn this_network() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    network(boot, std::fs::read_link("/proc/thread-self/ns/net"))
}

fn network(boot: io::Result<String>, namespace: io::Result<PathBuf>) -> Option<String> {
    let word = |text: &str| {
        let word: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
        (!word.is_empty()).then_some(word)
    };
    let (boot, namespace) = (boot.ok()?, namespace.ok()?);
    Some(format!("{}.{}", word(&boot)?, word(&namespace.to_string_lossy())?))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.network {
            Some(network) => write!(f, "{}@{network}", self.socket),
            None => self.socket.fmt(f),
        }
    }
}

impl FromStr for Address {
    type Err = std::net::AddrParseError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bare = super::without_key(text);
        let (socket, network) = match bare.split_once('@') {
            Some((socket, network)) => (socket, Some(network.to_owned())),
            None => (bare, None),
        };
        Ok(Self { socket: canonical(socket.parse()?), network })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Address {
        text.parse().expect("it is an address")
    }

    fn socket(text: &str) -> SocketAddr {
        text.parse().expect("it is an address with a port")
    }

    #[test]
    fn an_address_that_means_something_else_elsewhere_is_dialled_in_its_own_network_only() {
        for (spelt, meant) in [
            ("127.0.0.1:7000", "127.0.0.1:7000"),
            ("127.8.9.10:7000", "127.8.9.10:7000"),
            ("[::1]:7000", "[::1]:7000"),
            ("[::ffff:127.0.0.1]:7000", "127.0.0.1:7000"),
            ("[::ffff:7f00:1]:7000", "127.0.0.1:7000"),
            ("169.254.1.2:7000", "169.254.1.2:7000"),
            ("[::ffff:169.254.1.2]:7000", "169.254.1.2:7000"),
            ("[fe80::1%3]:7000", "[fe80::1%3]:7000"),
        ] {
            let told = Address::of(socket(spelt)).to_string();
            assert_eq!(parsed(&told).dialable(), Some(socket(meant)), "{told}");
            for elsewhere in [format!("{spelt}@elsewhere"), spelt.to_owned(), format!("{spelt}@")] {
                assert_eq!(parsed(&elsewhere).dialable(), None, "{elsewhere}");
                assert!(!parsed(&elsewhere).is_own_host(), "{elsewhere}");
            }
        }
    }

    #[test]
    fn any_other_address_is_dialled_from_everywhere() {
        for (spelt, meant) in [
            ("10.1.2.3:7000", "10.1.2.3:7000"),
            ("[::ffff:10.1.2.3]:7000", "10.1.2.3:7000"),
            ("[2001:db8::2%5]:7000", "[2001:db8::2]:7000"),
        ] {
            for told in [spelt, &format!("{spelt}@elsewhere"), &format!("{spelt}#ab")] {
                assert_eq!(parsed(told).dialable(), Some(socket(meant)), "{told}");
                assert!(!parsed(told).is_own_host(), "{told}");
            }
            // It is of this network, but no interface has it.
            assert!(!Address::of(socket(spelt)).is_own_host(), "{spelt}");
        }
    }

    #[test]
    fn an_unspecified_address_is_dialled_from_nowhere() {
        for spelt in ["0.0.0.0:7000", "[::]:7000", "[::ffff:0.0.0.0]:7000", "[::ffff:0:0]:7000"] {
            assert_eq!(parsed(spelt).dialable(), None, "{spelt}");
            assert_eq!(Address::of(socket(spelt)).dialable(), None, "{spelt}");
        }
    }

    #[test]
    fn only_what_this_process_listens_on_is_an_address_of_its_own_host() {
        let own = |advertised: &str, bound: &str| {
            Address::advertised(socket(advertised), socket(bound)).is_own_host()
        };
        assert!(Address::of(socket("[::ffff:127.0.0.1]:7000")).is_own_host());
        assert!(own("127.0.0.1:7000", "0.0.0.0:7000"));
        assert!(own("127.0.0.1:7000", "[::ffff:127.0.0.1]:7000"));
        assert!(!own("127.0.0.1:7001", "0.0.0.0:7000"), "another port belongs to another process");
        assert!(
            !own("127.0.0.1:7000", "10.1.2.3:7000"),
            "another address belongs to another process"
        );
        assert!(!own("[::1]:7000", "0.0.0.0:7000"), "the other family may not be listened on");
    }

    #[test]
    fn an_unknown_machine_or_namespace_is_the_same_as_no_other() {
        let lost = || io::Error::from(io::ErrorKind::PermissionDenied);
        let namespace = || Ok(PathBuf::from("net:[4026531840]"));
        assert_eq!(network(Err(lost()), namespace()), None);
        assert_eq!(network(Ok("ab-12".to_owned()), Err(lost())), None);
        assert_eq!(network(Ok("\n".to_owned()), namespace()), None);
        let known = network(Ok("ab-12\n".to_owned()), namespace());
        assert_eq!(known.as_deref(), Some("ab12.net4026531840"));
        let unknown = Address { socket: socket("127.0.0.1:7000"), network: None };
        assert_eq!((unknown.dialable(), unknown.is_own_host()), (None, false));
    }
}

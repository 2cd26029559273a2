//! A lifeline's address, and where it is valid.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// A socket address; a loopback one together with the network it loops back in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    socket: SocketAddr,
    network: Option<String>,
}

impl Address {
    /// The address as it is told to others.
    pub fn of(socket: SocketAddr) -> Self {
        let network = socket.ip().is_loopback().then(this_network);
        Self { socket, network }
    }

    /// Where to dial; `None` if the address means something else from here.
    pub fn dialable(&self) -> Option<SocketAddr> {
        match &self.network {
            Some(network) if *network != this_network() => None,
            None if self.socket.ip().is_loopback() => None,
            _ => Some(self.socket),
        }
    }
}

/// This process's network: the machine's boot, and the network namespace on it.
fn this_network() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    let digits = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    format!("{}.{}", digits(&boot), digits(&namespace.to_string_lossy()))
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
        let (socket, network) = match text.split_once('@') {
            Some((socket, network)) => (socket, Some(network.to_owned())),
            None => (text, None),
        };
        Ok(Self { socket: socket.parse()?, network })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Address {
        text.parse().expect("it is an address")
    }

    #[test]
    fn a_loopback_address_is_dialled_only_in_its_own_network() {
        let socket: SocketAddr = "127.0.0.1:7000".parse().expect("valid");
        let told = Address::of(socket).to_string();
        assert_eq!(parsed(&told).dialable(), Some(socket));
        assert_eq!(parsed("127.0.0.1:7000@elsewhere").dialable(), None);
        assert_eq!(parsed("127.0.0.1:7000").dialable(), None);
    }

    #[test]
    fn any_other_address_is_dialled_from_everywhere() {
        let socket: SocketAddr = "10.1.2.3:7000".parse().expect("valid");
        assert_eq!(Address::of(socket).to_string(), "10.1.2.3:7000");
        assert_eq!(parsed("10.1.2.3:7000").dialable(), Some(socket));
        assert_eq!(parsed("[::2]:7000").dialable(), "[::2]:7000".parse().ok());
    }
}

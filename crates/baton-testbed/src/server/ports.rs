//! Ports that no other process has: below those that the system hands out to clients, so that no
//! connection takes one while its server is down, and locked against other tests.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as Name, UnixListener};

use crate::error::TestbedError;

const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port that no other test takes while this lives.
pub struct Port {
    /// Its number.
    pub number: u16,
    _lock: UnixListener,
}

impl Port {
    /// The next one that is free, from a place that depends on the process.
    pub fn take() -> Result<Self, TestbedError> {
        let start = u16::try_from(std::process::id() * 37 % u32::from(COUNT)).unwrap_or(0);
        let numbers = (0..COUNT).map(|step| FIRST + (start + step) % COUNT);
        let mut free = numbers.filter_map(|number| {
            let lock = lock(number).filter(|_| is_free(number))?;
            Some(Self { number, _lock: lock })
        });
        free.next().ok_or_else(|| {
            let why = format!("ports {FIRST} to {} are all in use", FIRST + COUNT - 1);
            TestbedError::NotArrangeable { what: "a free port", why }
        })
    }

    /// The port on the loopback address.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.number).into()
    }
}

/// A name that only one process of this machine's network can have, and that goes with it.
fn lock(port: u16) -> Option<UnixListener> {
    let name = Name::from_abstract_name(format!("baton-testbed-port-{port}")).ok()?;
    UnixListener::bind_addr(&name).ok()
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::Port;

    #[test]
    fn no_two_have_the_same_port() {
        let ports: Vec<Port> =
            (0..20).map(|_| Port::take().expect("there are thousands")).collect();
        let mut numbers: Vec<u16> = ports.iter().map(|port| port.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 20);
    }
}

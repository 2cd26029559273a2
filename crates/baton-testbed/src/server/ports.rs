//! Ports that nobody else has: below those that the system hands out to clients, so that no
//! connection takes one while its server is down, and locked against other tests.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use crate::error::{TestbedError, Tried};
use crate::place;

const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port that no other test takes while this lives.
pub struct Port {
    pub number: u16,
    _lock: File,
}

impl Port {
    /// The next one that is free, from a place that depends on the process.
    pub fn take() -> Result<Self, TestbedError> {
        let folder = place::made(place::cache()?.join("ports"))?;
        let start = u16::try_from(std::process::id() * 37 % u32::from(COUNT)).unwrap_or(0);
        for step in 0..COUNT {
            let number = FIRST + (start + step) % COUNT;
            let path = folder.join(number.to_string());
            let file = File::options().create(true).truncate(false).write(true).open(&path);
            let lock = file.tried(|| format!("opening {}", path.display()))?;
            if lock.try_lock().is_ok() && is_free(number) {
                return Ok(Self { number, _lock: lock });
            }
        }
        let why = format!("ports {FIRST} to {} are all in use", FIRST + COUNT - 1);
        Err(TestbedError::NotArrangeable { what: "a free port", why })
    }

    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.number).into()
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

//! The hosts of a store's servers: each is tried in turn.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::within;
use crate::OpenError;

/// Names and ports, and which of them answered last.
pub(crate) struct Hosts {
    hosts: Vec<(String, u16)>,
    last: AtomicUsize,
}

impl Hosts {
    /// At least one host, the first of which is tried first.
    pub(crate) fn new(hosts: Vec<(String, u16)>) -> Self {
        Self { hosts, last: AtomicUsize::new(0) }
    }

    /// What `connect` makes of the first host that it succeeds with, beginning with the one that
    /// answered last. It is given a host and how to show it, and each host has its share of the
    /// time. If none will do, the error is the one that a person can put right, if there is one,
    /// rather than that of a host that is away.
    pub(crate) async fn first<'a, T, F>(
        &'a self,
        store: &'static str,
        timeout: Duration,
        connect: impl Fn(&'a (String, u16), String) -> F,
    ) -> Result<T, OpenError>
    where
        F: Future<Output = Result<T, OpenError>>,
    {
        let hosts = self.hosts.len();
        let share = timeout / u32::try_from(hosts).unwrap_or(u32::MAX);
        let first = self.last.load(Ordering::Relaxed);
        let mut reported = None;
        for at in (0..hosts).map(|turn| (first + turn) % hosts) {
            let place = shown(&self.hosts[at]);
            let connected = within(share, connect(&self.hosts[at], place.clone())).await;
            let error = match connected {
                Some(Ok(connection)) => {
                    self.last.store(at, Ordering::Relaxed);
                    return Ok(connection);
                }
                Some(Err(error)) => error,
                None => {
                    let detail = format!("no answer within {} ms", share.as_millis());
                    OpenError::Unreachable { store, place, detail }
                }
            };
            if reported.is_none() || !matches!(error, OpenError::Unreachable { .. }) {
                reported = Some(error);
            }
        }
        Err(reported.expect("an address has a host"))
    }
}

/// A host and its port, as URLs and messages show them.
pub(crate) fn shown((name, port): &(String, u16)) -> String {
    match name.contains(':') {
        true => format!("[{name}]:{port}"),
        false => format!("{name}:{port}"),
    }
}

/// Several hosts, with commas between them.
pub(crate) fn all_shown(hosts: &[(String, u16)]) -> String {
    hosts.iter().map(shown).collect::<Vec<_>>().join(",")
}

/// Is it a name or an address by which this machine reaches itself?
pub(crate) fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

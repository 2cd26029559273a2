//! A server that the environment names: it can be connected to, and nothing else.

use std::net::{SocketAddr, ToSocketAddrs};

use super::kind::Kind;
use crate::error::TestbedError;

/// A server that was started elsewhere.
pub struct ExternalServer {
    pub variable: &'static str,
    pub address: SocketAddr,
    url: String,
    /// How the URL names host and port.
    host: String,
}

impl ExternalServer {
    /// The one that the environment names for this kind.
    pub fn by_environment(kind: Kind) -> Result<Option<Self>, TestbedError> {
        let variable = kind.variable();
        match std::env::var(variable) {
            Ok(url) if !url.is_empty() => Self::parse(kind, variable, url).map(Some),
            _ => Ok(None),
        }
    }

    fn parse(kind: Kind, variable: &'static str, url: String) -> Result<Self, TestbedError> {
        let host = host_of(&url).map(str::to_owned);
        let address = host.as_deref().and_then(resolved);
        let (Some(host), Some(address)) = (host, address) else {
            let example = kind.url(([127, 0, 0, 1], 5_000).into());
            return Err(TestbedError::NoServer { variable, given: url, example });
        };
        Ok(Self { variable, address, url, host })
    }

    /// The URL with another address in it.
    pub fn url_at(&self, address: SocketAddr) -> String {
        if address == self.address {
            return self.url.clone();
        }
        self.url.replacen(&self.host, &address.to_string(), 1)
    }
}

fn resolved(host: &str) -> Option<SocketAddr> {
    let mut found: Vec<SocketAddr> = host.to_socket_addrs().ok()?.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    found.into_iter().next()
}

/// `host:port` of the URL, or of the endpoint that it names.
fn host_of(url: &str) -> Option<&str> {
    let whole = url.split_once("endpoint=").map_or(url, |(_, endpoint)| endpoint);
    let (_, rest) = whole.split_once("://")?;
    let authority = rest.split(['/', '?', '&', ',']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.contains(':').then_some(host)
}

#[cfg(test)]
mod tests {
    use super::{ExternalServer, Kind, host_of};

    #[test]
    fn the_host_is_found_in_every_kind_of_url() {
        let address = ([127, 0, 0, 1], 4_711).into();
        for kind in Kind::ALL {
            assert_eq!(host_of(&kind.url(address)), Some("127.0.0.1:4711"), "{kind:?}");
        }
        assert_eq!(host_of("mysql://a:b@db.example:3306/x"), Some("db.example:3306"));
        assert_eq!(host_of("redis://db"), None);
    }

    #[test]
    fn a_named_server_is_reached_through_another_address_too() {
        let url = "mysql://root:x@127.0.0.1:33/baton".to_owned();
        let named = ExternalServer::parse(Kind::Mariadb, "X", url).expect("it names a server");
        let elsewhere = named.url_at(([127, 0, 0, 1], 44).into());
        assert_eq!(elsewhere, "mysql://root:x@127.0.0.1:44/baton");
        assert_eq!(named.url_at(named.address), "mysql://root:x@127.0.0.1:33/baton");
        let refused =
            ExternalServer::parse(Kind::Redis, "X", "db".to_owned()).err().expect("no host");
        assert_eq!(
            refused.to_string(),
            "X is \"db\"; name a server as in redis://127.0.0.1:5000/0"
        );
    }
}

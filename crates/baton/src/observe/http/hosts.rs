//! By which names the endpoint may be asked for.
//!
//! A web page may make a name of its own resolve to this machine and read what answers there: DNS
//! rebinding. Its requests carry that name as their host. An address cannot be bent that way, nor
//! can `localhost`; and a request without any host, as load balancers send with HTTP/1.0, is no
//! browser's.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// The names beside addresses and `localhost`, in lower case.
#[derive(Clone, Default)]
pub struct Hosts(Arc<[String]>);

impl Hosts {
    pub fn new(names: Vec<String>) -> Self {
        Self(names.into_iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    /// Is this host, with or without a port, one of ours?
    fn admits(&self, host: &str) -> bool {
        if let Some(bracketed) = host.strip_prefix('[') {
            let address = bracketed.split_once(']').map(|(address, _)| address);
            return address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
        }
        let name = host.split_once(':').map_or(host, |(name, _)| name).to_ascii_lowercase();
        let name = name.strip_suffix('.').unwrap_or(&name);
        name.parse::<Ipv4Addr>().is_ok()
            || name == "localhost"
            || name.ends_with(".localhost")
            || self.0.iter().any(|ours| ours == name)
    }
}

/// Lets the request through if all that it names as its host is ours.
pub async fn check(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let in_uri = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    let headers = request.headers().get_all(HOST).iter().map(HeaderValue::as_bytes);
    let named = in_uri.into_iter().chain(headers);
    let foreign = named.map(String::from_utf8_lossy).find(|host| !hosts.admits(host));
    if let Some(host) = foreign {
        let why = "is no name of this endpoint; use its address, or add the name to metrics_hosts";
        let said = format!("host {host:?} {why}\n");
        return (StatusCode::MISDIRECTED_REQUEST, said).into_response();
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::Hosts;

    #[test]
    fn addresses_loopback_names_and_given_names_are_ours() {
        let hosts = Hosts::new(vec!["Baton.example".to_owned()]);
        let ours = [
            "127.0.0.1:9090",
            "10.1.2.3",
            "[::1]:9090",
            "[fe80::1]",
            "localhost",
            "LocalHost.:9090",
            "a.localhost:1",
            "baton.EXAMPLE:9090",
        ];
        for host in ours {
            assert!(hosts.admits(host), "{host}");
        }
    }

    #[test]
    fn any_other_name_is_not() {
        let hosts = Hosts::new(vec!["baton.example".to_owned()]);
        let foreign = [
            "evil.example",
            "evil.baton.example",
            "baton.example.evil",
            "127.0.0.1.evil.example:9090",
            "localhost.evil.example",
            "notlocalhost",
            "[evil.example]",
            "[::1",
            "",
            "me@127.0.0.1",
            "\u{fffd}",
        ];
        for host in foreign {
            assert!(!hosts.admits(host), "{host}");
        }
    }
}

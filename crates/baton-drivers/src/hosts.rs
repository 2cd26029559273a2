//! On which hosts a store's servers are, as far as its URL says.

use crate::url_parts::{UrlParts, options};

/// Where S3 is unless an endpoint is given.
const AWS: &str = "amazonaws.com";

/// The hosts that a store's URL names: names or addresses, without ports. None for a store that
/// needs no server, and for what is no URL of a store.
///
/// ```
/// use baton_drivers::server_hosts;
/// assert_eq!(server_hosts("postgres://me@db-1:5432,db-2/app"), ["db-1", "db-2"]);
/// assert_eq!(server_hosts("s3://bucket?endpoint=http://127.0.0.1:9000"), ["127.0.0.1"]);
/// assert!(server_hosts("sqlite:///var/lib/app/baton.db").is_empty());
/// ```
pub fn server_hosts(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.split_once("://") else { return Vec::new() };
    if matches!(scheme, "sqlite" | "memory") {
        return Vec::new();
    }
    let Ok(Some(mut parts)) = UrlParts::of(rest) else { return Vec::new() };
    if scheme == "s3" {
        let endpoint = options(parts.query).find(|(name, _)| *name == "endpoint");
        let server = endpoint.and_then(|(_, endpoint)| endpoint?.split_once("://"));
        let Ok(Some(named)) = UrlParts::of(server.map_or(AWS, |it| it.1)) else {
            return Vec::new();
        };
        parts = named;
    }
    parts.hosts.iter().map(|(host, _)| (*host).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_without_logins_ports_and_brackets() {
        let cases: [(&str, &[&str]); 8] = [
            ("redis://:hush@cache:6380/1", &["cache"]),
            ("etcd://[::1]:2379,10.0.0.1:2379", &["::1", "10.0.0.1"]),
            ("mysql://me:hush@127.0.0.1/app", &["127.0.0.1"]),
            ("s3://bucket/prefix?region=eu-west-1", &["amazonaws.com"]),
            ("s3://bucket?endpoint=https://s3.example/", &["s3.example"]),
            ("memory://", &[]),
            ("sqlite://me@db/x", &[]),
            ("postgres", &[]),
        ];
        for (url, hosts) in cases {
            assert_eq!(server_hosts(url), hosts, "{url}");
        }
    }
}

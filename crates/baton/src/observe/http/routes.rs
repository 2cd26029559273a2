//! The routes, and by which names they may be asked for. Only GET and HEAD are answered, and
//! nothing that is sent is read.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use baton_store::clock::{Clock, SystemClock};

use super::Nodes;
use crate::node::Departure;
use crate::observe::CoreFigures;
use crate::shared::Shared;

/// The format that [`NodeMetrics`](crate::NodeMetrics) are written in.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

const EPOCH: HeaderName = HeaderName::from_static("baton-epoch");

type HttpAnswer = (StatusCode, HeaderMap, String);

fn answer(status: StatusCode, text: String) -> HttpAnswer {
    (status, HeaderMap::new(), text)
}

fn unavailable(text: String) -> HttpAnswer {
    answer(StatusCode::SERVICE_UNAVAILABLE, text)
}

pub fn router(nodes: Nodes, hosts: Hosts) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .route("/leader", get(leader))
        .route("/follower", get(follower))
        .fallback(not_found)
        .with_state(nodes)
        .layer(from_fn_with_state(hosts, check))
}

async fn metrics(State(nodes): State<Nodes>) -> Response {
    ([(CONTENT_TYPE, TEXT_FORMAT)], nodes.figures().to_string()).into_response()
}

/// Does the node's own thread turn? What the store does is no part of it: a restart of this process
/// mends no store.
async fn livez(State(nodes): State<Nodes>, uri: Uri) -> HttpAnswer {
    answer_about(&nodes, &uri, |node| {
        if *node.departed.borrow() == Some(Departure::Broken) {
            return unavailable("the node's thread failed\n".to_owned());
        }
        let has_left = node.departed.borrow().is_some();
        match node.watchdog.overdue(SystemClock.now()).filter(|_| !has_left) {
            None => answer(StatusCode::OK, "the node lives\n".to_owned()),
            Some((silent, limit)) => {
                let (silent, limit) = (silent.as_millis(), limit.as_millis());
                let text = format!("the node's thread is stuck: no turn for {silent} ms, ");
                unavailable(format!("{text}at most {limit} ms may pass\n"))
            }
        }
    })
}

async fn readyz(State(nodes): State<Nodes>, uri: Uri) -> HttpAnswer {
    answer_about(&nodes, &uri, |node| {
        match CoreFigures::of(node).check_ready(node, SystemClock.now()) {
            Ok(()) => answer(StatusCode::OK, "ready\n".to_owned()),
            Err(why) => unavailable(format!("not ready: {why}\n")),
        }
    })
}

/// Does it lead by the clock, and for this long yet?
async fn leader(State(nodes): State<Nodes>, uri: Uri) -> HttpAnswer {
    let wanted = match min_left(&uri) {
        Ok(wanted) => wanted,
        Err(wrong) => return answer(StatusCode::BAD_REQUEST, wrong),
    };
    answer_about(&nodes, &uri, |node| {
        let now = SystemClock.now();
        let term = node.term.borrow().clone().filter(|term| term.is_open(now));
        let Some(term) = term.filter(|_| node.is_leader()) else {
            return unavailable(who_leads(node));
        };
        let (epoch, left) = (term.epoch.0, term.window().hard.since(now));
        let leads = format!("{} leads in epoch {epoch}", node.id);
        if left < wanted {
            let (left, wanted) = (left.as_millis(), wanted.as_millis());
            return unavailable(format!("{leads} for {left} ms, {wanted} ms are asked for\n"));
        }
        let headers = HeaderMap::from_iter([(EPOCH, HeaderValue::from(epoch))]);
        (StatusCode::OK, headers, format!("{leads}\n"))
    })
}

/// May it be counted on for what the leader should not do?
async fn follower(State(nodes): State<Nodes>, uri: Uri) -> HttpAnswer {
    answer_about(&nodes, &uri, |node| {
        if node.is_leader() {
            return unavailable(format!("{} leads\n", node.id));
        }
        match CoreFigures::of(node).check_ready(node, SystemClock.now()) {
            Ok(()) => answer(StatusCode::OK, who_leads(node)),
            Err(why) => unavailable(format!("not ready: {why}\n")),
        }
    })
}

fn who_leads(node: &Shared) -> String {
    let snapshot = node.snapshot();
    match snapshot.leader(SystemClock.now()).filter(|leader| **leader != node.id) {
        Some(leader) => format!("{leader} leads\n"),
        None => "no node is known to lead\n".to_owned(),
    }
}

async fn not_found() -> HttpAnswer {
    let paths = "/metrics, /livez, /readyz, /leader and /follower";
    answer(StatusCode::NOT_FOUND, format!("there are {paths}\n"))
}

fn field<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let mut pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(field, value)| (field == name).then_some(value))
}

/// How much of the window must be left: none, unless `?min_left=` says so.
fn min_left(uri: &Uri) -> Result<Duration, String> {
    let Some(text) = field(uri, "min_left") else { return Ok(Duration::ZERO) };
    let wrong = format!("min_left is {text:?}; give a span such as 2s or 500ms\n");
    humantime::parse_duration(text).map_err(|_| wrong)
}

/// Asks the node of the namespace that `?namespace=` names, or the first one.
fn answer_about(nodes: &Nodes, uri: &Uri, ask: impl Fn(&Shared) -> HttpAnswer) -> HttpAnswer {
    let named = field(uri, "namespace");
    let mut nodes = nodes.all().into_iter();
    let node = match named {
        Some(name) => nodes.find(|node| node.namespace.as_str() == name),
        None => nodes.next(),
    };
    match (node, named) {
        (Some(node), _) => ask(&node),
        (None, Some(_)) => {
            answer(StatusCode::NOT_FOUND, "no node of that namespace is here\n".to_owned())
        }
        (None, None) => unavailable("the node is gone\n".to_owned()),
    }
}

/// The names by which the endpoint may be asked for beside addresses and `localhost`, in lower
/// case.
///
/// A web page may make a name of its own resolve to this machine and read what answers there: DNS
/// rebinding. Its requests carry that name as their host. An address cannot be bent that way, nor
/// can `localhost`; and a request without any host, as load balancers send with HTTP/1.0, is no
/// browser's.
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
async fn check(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let in_uri = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    let headers = request.headers().get_all(HOST).iter().map(HeaderValue::as_bytes);
    let named = in_uri.into_iter().chain(headers);
    let foreign = named.map(String::from_utf8_lossy).find(|host| !hosts.admits(host));
    if let Some(host) = foreign {
        let why = "is no name of this endpoint; use its address, or add the name to metrics_hosts";
        let answer = format!("host {host:?} {why}\n");
        return (StatusCode::MISDIRECTED_REQUEST, answer).into_response();
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

//! The routes. Only GET and HEAD are answered, and nothing that is sent is read.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use baton_store::clock::{Clock, SystemClock};

use super::Subjects;
use super::hosts::{Hosts, check};
use crate::node::Departure;
use crate::observe::is_ready;
use crate::shared::Shared;

/// The format that [`NodeMetrics`](crate::NodeMetrics) are written in.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The epoch of the term that `/leader` speaks of.
const EPOCH: HeaderName = HeaderName::from_static("baton-epoch");

type Said = (StatusCode, HeaderMap, String);

fn said(status: StatusCode, text: String) -> Said {
    (status, HeaderMap::new(), text)
}

fn unavailable(text: String) -> Said {
    said(StatusCode::SERVICE_UNAVAILABLE, text)
}

/// What is answered where, and by which names.
pub fn router(subjects: Subjects, hosts: Hosts) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .route("/leader", get(leader))
        .route("/follower", get(follower))
        .fallback(elsewhere)
        .with_state(subjects)
        .layer(from_fn_with_state(hosts, check))
}

async fn metrics(State(subjects): State<Subjects>) -> Response {
    ([(CONTENT_TYPE, TEXT_FORMAT)], subjects.figures().to_string()).into_response()
}

/// Does the node's own thread turn? What the store does is no part of it: a restart of this process
/// mends no store.
async fn livez(State(subjects): State<Subjects>, uri: Uri) -> Said {
    about(&subjects, &uri, |node| {
        if *node.departed.borrow() == Some(Departure::Broken) {
            return unavailable("the node's thread broke\n".to_owned());
        }
        let has_left = node.departed.borrow().is_some();
        match node.watchdog.overdue(SystemClock.now()).filter(|_| !has_left) {
            None => said(StatusCode::OK, "the node lives\n".to_owned()),
            Some((silent, limit)) => {
                let (silent, limit) = (silent.as_millis(), limit.as_millis());
                let text = format!("the node's thread is stuck: no turn for {silent} ms, ");
                unavailable(format!("{text}at most {limit} ms may pass\n"))
            }
        }
    })
}

async fn readyz(State(subjects): State<Subjects>, uri: Uri) -> Said {
    about(&subjects, &uri, |node| match is_ready(node, SystemClock.now()) {
        Ok(()) => said(StatusCode::OK, "ready\n".to_owned()),
        Err(why) => unavailable(format!("not ready: {why}\n")),
    })
}

/// Does it lead by the clock, and for this long yet?
async fn leader(State(subjects): State<Subjects>, uri: Uri) -> Said {
    let wanted = match min_left(&uri) {
        Ok(wanted) => wanted,
        Err(wrong) => return said(StatusCode::BAD_REQUEST, wrong),
    };
    about(&subjects, &uri, |node| {
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
async fn follower(State(subjects): State<Subjects>, uri: Uri) -> Said {
    about(&subjects, &uri, |node| {
        if node.is_leader() {
            return unavailable(format!("{} leads\n", node.id));
        }
        match is_ready(node, SystemClock.now()) {
            Ok(()) => said(StatusCode::OK, who_leads(node)),
            Err(why) => unavailable(format!("not ready: {why}\n")),
        }
    })
}

/// Which other node leads, as far as this one knows.
fn who_leads(node: &Shared) -> String {
    let snapshot = node.snapshot();
    match snapshot.leader(SystemClock.now()).filter(|leader| **leader != node.id) {
        Some(leader) => format!("{leader} leads\n"),
        None => "no node is known to lead\n".to_owned(),
    }
}

async fn elsewhere() -> Said {
    let paths = "/metrics, /livez, /readyz, /leader and /follower";
    said(StatusCode::NOT_FOUND, format!("there are {paths}\n"))
}

/// The value of a field of the query.
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
fn about(subjects: &Subjects, uri: &Uri, ask: impl Fn(&Shared) -> Said) -> Said {
    let named = field(uri, "namespace");
    let nodes = subjects.all();
    let mut nodes = nodes.iter().filter_map(|subject| subject.node.upgrade());
    let node: Option<Arc<Shared>> = match named {
        Some(name) => nodes.find(|node| node.namespace.as_str() == name),
        None => nodes.next(),
    };
    match (node, named) {
        (Some(node), _) => ask(&node),
        (None, Some(_)) => {
            said(StatusCode::NOT_FOUND, "no node of that namespace is here\n".to_owned())
        }
        (None, None) => unavailable("the node is gone\n".to_owned()),
    }
}

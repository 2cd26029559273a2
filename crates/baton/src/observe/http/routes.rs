//! The four routes. Only GET and HEAD are answered, and nothing that is sent is read.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use baton_store::clock::{Clock, SystemClock};

use super::Subjects;
use crate::observe::is_ready;
use crate::shared::Shared;

/// The format that [`NodeMetrics`](crate::NodeMetrics) are written in.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

type Said = (StatusCode, String);

/// What is answered where.
pub fn router(subjects: Subjects) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .route("/leader", get(leader))
        .fallback(elsewhere)
        .with_state(subjects)
}

async fn metrics(State(subjects): State<Subjects>) -> Response {
    ([(CONTENT_TYPE, TEXT_FORMAT)], subjects.figures().to_string()).into_response()
}

async fn livez() -> &'static str {
    "the process lives\n"
}

async fn readyz(State(subjects): State<Subjects>, uri: Uri) -> Said {
    about(&subjects, &uri, |node| match is_ready(node, SystemClock.now()) {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")),
    })
}

async fn leader(State(subjects): State<Subjects>, uri: Uri) -> Said {
    about(&subjects, &uri, |node| {
        if node.is_leader() {
            let epoch = node.term.borrow().as_ref().map_or(0, |term| term.epoch.0);
            return (StatusCode::OK, format!("{} leads in epoch {epoch}\n", node.id));
        }
        let core = node.core();
        let leads = core.leader(SystemClock.now()).filter(|leader| **leader != node.id);
        let said = match leads {
            Some(leader) => format!("{leader} leads\n"),
            None => "nobody is known to lead\n".to_owned(),
        };
        (StatusCode::SERVICE_UNAVAILABLE, said)
    })
}

async fn elsewhere() -> Said {
    (StatusCode::NOT_FOUND, "there are /metrics, /livez, /readyz and /leader\n".to_owned())
}

/// Asks the node of the namespace that `?namespace=` names, or the first one.
fn about(subjects: &Subjects, uri: &Uri, ask: impl Fn(&Shared) -> Said) -> Said {
    let named = uri.query().into_iter().flat_map(|query| query.split('&'));
    let named = named.filter_map(|pair| pair.strip_prefix("namespace=")).next();
    let nodes = subjects.all();
    let mut nodes = nodes.iter().filter_map(|subject| subject.node.upgrade());
    let node: Option<Arc<Shared>> = match named {
        Some(name) => nodes.find(|node| node.namespace.as_str() == name),
        None => nodes.next(),
    };
    match (node, named) {
        (Some(node), _) => ask(&node),
        (None, Some(_)) => {
            (StatusCode::NOT_FOUND, "no node of that namespace is here\n".to_owned())
        }
        (None, None) => (StatusCode::SERVICE_UNAVAILABLE, "the node is gone\n".to_owned()),
    }
}

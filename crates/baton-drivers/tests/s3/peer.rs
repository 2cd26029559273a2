//! A process of its own that has the store open.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use baton_store::{Answer, Call, Store};
use baton_testbed::contender::fresh_namespace;
use baton_testbed::peer::{Process, Start, serve_if_asked};
use baton_testbed::subject::Fixture;

use crate::fixture::Site;

type Opening = Pin<Box<dyn Future<Output = Result<Arc<dyn Store>, String>> + Send>>;

/// Opens a store for a peer.
pub fn open(url: &str) -> Opening {
    let url = url.to_owned();
    Box::pin(async move { baton_drivers::open(&url).await.map_err(|error| error.to_string()) })
}

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked(open) {
        return;
    }
    let site = Site::start().await;
    let process = Process::start(&site.url(), Start::default()).await.expect("it may be opened");
    let web = fresh_namespace("web");
    let answer = process.call(&web, Call::Inspect).await;
    assert!(matches!(answer, Ok(Answer::Inspected(_))), "{answer:?}");
}

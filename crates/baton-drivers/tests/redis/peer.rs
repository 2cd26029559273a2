//! A process of its own that has the store open.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use baton_core::ids::Namespace;
use baton_store::{Call, Store};
use baton_testbed::peer::{Process, Start, serve_if_asked};
use baton_testbed::{Kind, Server};

type Opened = Result<Arc<dyn Store>, String>;

/// How every process of these tests opens a URL.
pub fn open(url: &str) -> Pin<Box<dyn Future<Output = Opened> + Send>> {
    let url = url.to_owned();
    Box::pin(async move { baton_drivers::open(&url).await.map_err(|error| error.to_string()) })
}

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked(open) {
        return;
    }
    let server = Server::start(Kind::Redis).await.expect("Redis can be started");
    let process = Process::start(&server.url(), Start::default()).await.expect("it may be opened");
    let namespace = Namespace::new("web").expect("it is a name");
    let answer = process.call(&namespace, Call::Inspect).await;
    assert!(answer.is_ok(), "{answer:?}");
}

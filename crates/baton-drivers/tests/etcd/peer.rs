//! This program as a peer: a store in a process of its own.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use baton_store::Store;
use baton_testbed::peer::serve_if_asked;

type Opened = Result<Arc<dyn Store>, String>;

/// Opens the store of a URL.
pub fn open(url: &str) -> Pin<Box<dyn Future<Output = Opened> + Send>> {
    let url = url.to_owned();
    Box::pin(async move {
        let opened = baton_drivers::open(&url).await;
        opened.map_err(|error| error.to_string())
    })
}

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked(open) {
        return;
    }
    let refused = open("etcd://").await.expect_err("it names no host");
    assert!(refused.starts_with("etcd:// names no host"), "{refused}");
}

//! A process of its own that has the store open.

use std::pin::Pin;
use std::sync::Arc;

use baton_core::ids::Namespace;
use baton_store::{Answer, Call, Store};
use baton_testbed::peer::{Process, Start, serve_if_asked};

use crate::fixture::MysqlFixture;

type Opening = Pin<Box<dyn Future<Output = Result<Arc<dyn Store>, String>> + Send>>;

/// Opens a URL for the testbed.
pub fn open(url: &str) -> Opening {
    let url = url.to_owned();
    Box::pin(async move { baton_drivers::open(&url).await.map_err(|error| error.to_string()) })
}

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked(open) {
        return;
    }
    let fixture = MysqlFixture::start().await;
    let process = Process::start(&fixture.server.url(), Start::default()).await;
    let process = process.expect("it may be opened");
    let web = Namespace::new("web").expect("it is a good name");
    let answer = process.call(&web, Call::Inspect).await;
    assert!(matches!(answer, Ok(Answer::Inspected(_))), "{answer:?}");
}

//! A process of its own that has the store open.

use baton_store::{Answer, Call};
use baton_testbed::contender::fresh_namespace;
use baton_testbed::peer::{Process, Start, serve_if_asked};
use baton_testbed::subject::Fixture;

use crate::fixture::S3Fixture;

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked() {
        return;
    }
    let site = S3Fixture::start().await;
    let process = Process::start(&site.url(), Start::default()).await.expect("it may be opened");
    let web = fresh_namespace("web");
    let answer = process.call(&web, Call::Inspect).await;
    assert!(matches!(answer, Ok(Answer::Inspected(_))), "{answer:?}");
}

//! A process of its own that has the store open.

use baton_core::ids::Namespace;
use baton_store::{Answer, Call};
use baton_testbed::peer::{Process, Start, serve_if_asked};

use crate::fixture::MysqlFixture;

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked() {
        return;
    }
    let fixture = MysqlFixture::start().await;
    let process = Process::start(&fixture.server.url(), Start::default()).await;
    let process = process.expect("it may be opened");
    let web = Namespace::new("web").expect("it is a good name");
    let answer = process.call(&web, Call::Inspect).await;
    assert!(matches!(answer, Ok(Answer::Inspected(_))), "{answer:?}");
}

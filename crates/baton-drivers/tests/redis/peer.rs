//! A process of its own that has the store open.

use baton_core::ids::Namespace;
use baton_store::Call;
use baton_testbed::peer::{Process, Start, serve_if_asked};
use baton_testbed::{Kind, Server};

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked() {
        return;
    }
    let server = Server::start(Kind::Redis).await.expect("Redis can be started");
    let process = Process::start(&server.url(), Start::default()).await.expect("it may be opened");
    let namespace = Namespace::new("web").expect("it is a name");
    let answer = process.call(&namespace, Call::Inspect).await;
    assert!(answer.is_ok(), "{answer:?}");
}

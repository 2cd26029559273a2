//! A process of its own that has the file open.

use baton_store::{Answer, Call};
use baton_testbed::peer::{Process, Start, serve_if_asked};
use baton_testbed::subject::Fixture;

use crate::beats::namespace;
use crate::file::File;

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked() {
        return;
    }
    let file = File::new();
    let process = Process::start(&file.url(), Start::default()).await.expect("it may be opened");
    let answer = process.call(&namespace("web"), Call::Inspect).await;
    assert!(matches!(answer, Ok(Answer::Inspected(_))), "{answer:?}");
}

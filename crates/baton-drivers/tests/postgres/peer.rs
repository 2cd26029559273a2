//! A process of its own answers.

use baton_core::ids::Namespace;
use baton_store::{Answer, Call};
use baton_testbed::peer::{Process, Start, serve_if_asked};

use crate::ground::{Postgres, open};

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked(open) {
        return;
    }
    let ground = Postgres::start().await;
    let process = Process::start(&ground.server.url(), Start::default()).await;
    let process = process.expect("it may be opened");
    let web = Namespace::new("web").expect("it is a good name");
    let answer = process.call(&web, Call::Inspect).await;
    assert!(matches!(answer, Ok(Answer::Inspected(_))), "{answer:?}");
}

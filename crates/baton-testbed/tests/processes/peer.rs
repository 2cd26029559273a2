//! A process of its own answers, until it is killed.

use std::time::Duration;

use baton_core::ids::Namespace;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Answer, Call, StoreError};
use baton_testbed::peer::{Process, Start, serve_if_asked};
use baton_testbed::subject::Fixture;

use crate::file::File;

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked() {
        return;
    }
    let file = File::new();
    let process = Process::start(&file.url(), Start::default()).await.expect("it may be opened");
    assert_eq!(process.declaration().name, "sqlite");
    assert_ne!(process.pid(), std::process::id());
    let web = Namespace::new("web").expect("it is a good name");
    let answer = process.call(&web, Call::Inspect).await;
    assert!(matches!(answer, Ok(Answer::Inspected(_))), "{answer:?}");

    // An answer whose caller stopped waiting is not taken for the next one.
    process.pause();
    let unheard = tokio::select! {
        answer = process.call(&web, Call::History { limit: 1 }) => Some(answer),
        () = SystemClock.sleep(Duration::from_millis(50)) => None,
    };
    assert_eq!(unheard, None);
    process.resume();
    let answer = process.call(&web, Call::Inspect).await;
    assert!(matches!(answer, Ok(Answer::Inspected(_))), "{answer:?}");

    process.kill().await;
    let answer = process.call(&web, Call::Inspect).await;
    assert!(matches!(answer, Err(StoreError::Unknown { .. })), "{answer:?}");
}

#[tokio::test]
async fn a_peer_that_is_refused_says_why() {
    let refused = Process::start("sqlite:///", Start::default()).await.err();
    assert!(refused.is_some_and(|why| why.contains("folder")));
}

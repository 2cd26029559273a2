//! A beat is one request and one answer, counted between the client and the server.

use baton_core::protocol::{Claim, LeaseIntent, Outcome};
use baton_store::{BatchOutcome, DocumentWrite, Precondition};
use baton_testbed::contender::{Contender, held_in, namespace};
use baton_testbed::proxy::Proxy;
use baton_testbed::wait::until;

use crate::fixture::Postgres;

#[tokio::test]
async fn every_beat_is_one_round_trip() {
    let fixture = Postgres::start().await;
    let proxy = Proxy::to(fixture.server.address()).await;
    let url = fixture.server.url_at(proxy.address());
    let store = baton_drivers::open(&url).await.expect("the server answers");
    let node = Contender::new(&store, &namespace("web"), 1);
    let trips = || proxy.counts().round_trips;

    let at = trips();
    let mut seen = node.look().await;
    assert_eq!(trips() - at, 1, "a look, the first on this connection");
    let at = trips();
    seen = node.claim_on(&seen, Claim::Vacant).await.expect("it is answered");
    assert_eq!(seen.outcome, Some(Outcome::Applied));
    assert_eq!(trips() - at, 1, "a claim");
    let at = trips();
    for _ in 0..10 {
        seen = node.renew(held_in(&seen)).await.expect("it is answered");
        node.beat(LeaseIntent::Observe).await.expect("it is answered");
    }
    assert_eq!(trips() - at, 20, "ten renewals and ten looks");
    let at = trips();
    let held = seen.lease.expect("it is held").version;
    assert_eq!(node.release(held).await, Outcome::Applied);
    assert_eq!(trips() - at, 1, "a release, with its hint");
    assert_eq!(proxy.counts().connections, 1);
}

/// What a session has to read and plan for the first time, it has read and planned before a
/// handover needs it; and nothing is left of that.
#[tokio::test]
async fn a_session_has_rehearsed_a_handover() {
    let fixture = Postgres::start().await;
    drop(fixture.open().await);
    fixture.sql("ALTER ROLE postgres SET track_functions TO 'all'").await;
    drop(fixture.open().await);
    // The counts of a session are certain when it has ended.
    until("the functions of a handover", async || {
        let called = fixture.sql("SELECT funcname FROM pg_stat_user_functions").await;
        let of_a_handover = ["acquire", "begin_term", "ask", "release", "end_term"];
        let is_called = |name: &&str| called.contains(&format!("baton_{name}"));
        of_a_handover.iter().all(is_called).then_some(())
    })
    .await;
    for table in ["namespaces", "locks", "nodes", "terms"] {
        let left = fixture.sql(&format!("SELECT count(*) FROM baton_{table}")).await;
        assert_eq!(left, ["0"], "{table}");
    }
}

/// As many round trips as calls, and none for an empty batch.
#[tokio::test]
async fn a_batch_of_documents_is_one_round_trip() {
    let fixture = Postgres::start().await;
    let proxy = Proxy::to(fixture.server.address()).await;
    let url = fixture.server.url_at(proxy.address());
    let store = baton_drivers::open(&url).await.expect("the server answers");
    let web = namespace("web");
    let held = Contender::new(&store, &web, 1).take(Claim::Vacant).await;
    let fence = Some(held.epoch);
    let write =
        |name| DocumentWrite { name, body: vec![7; 1_024], precondition: Precondition::Any };
    for (documents, trips) in [(1, None), (1, Some(2)), (10, Some(2)), (0, Some(0))] {
        let names: Vec<_> = (0..documents).map(|number| format!("{documents}/{number}")).collect();
        let before = proxy.counts();
        let batch = names.iter().cloned().map(write).collect();
        let written = store.write_documents(&web, batch, fence).await;
        let written = written.expect("the server answers");
        assert!(matches!(&written, BatchOutcome::Written(it) if it.len() == documents));
        let found = store.read_documents(&web, names).await.expect("the server answers");
        assert!(found.iter().all(Option::is_some) && found.len() == documents, "{found:?}");
        let after = proxy.counts().round_trips - before.round_trips;
        assert!(trips.is_none_or(|trips| trips == after), "{after} for {documents}");
    }
}

//! A beat costs one request and one reply, counted at the server and on the way.

use baton_core::protocol::{Claim, Outcome};
use baton_store::{BatchOutcome, DocumentWrite, Precondition};
use baton_testbed::Proxy;
use baton_testbed::contender::{Contender, namespace};

use crate::fixture::open;
use crate::fixture::{run, server};

/// How often the server was asked to run a script by its name, and by its text.
async fn scripts(server: &baton_testbed::Server) -> (u64, u64) {
    let info: String = run(server, &["INFO", "commandstats"]).await;
    let calls = |name: &str| {
        let line =
            info.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{name}:calls=")));
        let number = line.and_then(|line| line.split(',').next());
        number.map_or(0, |number| number.parse().expect("it is a number"))
    };
    (calls("evalsha"), calls("eval"))
}

#[tokio::test]
async fn a_beat_is_one_round_trip_whatever_it_wants() {
    const BEATS: u64 = 50;
    let server = server(&[]).await;
    let proxy = Proxy::to(server.address()).await;
    let store = open(&server.url_at(proxy.address())).await;
    let node = Contender::new(&store, &namespace("web"), 1);
    let mut held = node.take(Claim::Vacant).await;
    let (by_name, by_text) = scripts(&server).await;
    let before = proxy.counts();
    for _ in 0..BEATS {
        node.look().await;
        let renewed = node.renew(held).await.expect("it answers");
        assert_eq!(renewed.outcome, Some(Outcome::Applied));
        held = renewed.lease.expect("it is held").version;
    }
    let after = proxy.counts();
    assert_eq!(after.round_trips - before.round_trips, BEATS * 2);
    assert_eq!(after.connections, before.connections);
    assert_eq!(scripts(&server).await, (by_name + BEATS * 2, by_text));
}

#[tokio::test]
async fn a_flushed_script_is_sent_again_and_runs_once() {
    let server = server(&[]).await;
    let store = open(&server.url()).await;
    let node = Contender::new(&store, &namespace("web"), 1);
    let held = node.take(Claim::Vacant).await;
    node.look().await;
    let _: () = run(&server, &["SCRIPT", "FLUSH"]).await;
    let renewed = node.renew(held).await.expect("it answers");
    assert_eq!(renewed.outcome, Some(Outcome::Applied));
}

/// As many round trips as calls, and none for an empty batch.
#[tokio::test]
async fn a_batch_of_documents_is_one_round_trip() {
    let server = server(&[]).await;
    let proxy = Proxy::to(server.address()).await;
    let store = open(&server.url_at(proxy.address())).await;
    let web = namespace("web");
    let held = Contender::new(&store, &web, 1).take(Claim::Vacant).await;
    // The first call of a script sends its text.
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

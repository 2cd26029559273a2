//! A beat costs one request and one reply, counted at the server and on the way.

use baton_core::protocol::{Claim, Outcome};
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

//! What a beat costs, counted in front of the server.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::protocol::Claim;
use baton_drivers::s3::{REQUESTS_PER_BEAT, Requests, requests_per_hour};
use baton_store::clock::{Clock, SystemClock};
use baton_testbed::contender::{Contender, fresh_namespace};

use crate::http_proxy::{HttpProxy, SentRequest};
use crate::traps::behind_http_proxy;

/// Writes, reads and listings since this was last asked.
fn spent(http_proxy: &HttpProxy) -> Requests {
    let asked = http_proxy.requests();
    let count =
        |is_one: fn(&SentRequest) -> bool| asked.iter().filter(|it| is_one(it)).count() as u64;
    let list = count(SentRequest::lists);
    let put = count(|asked| asked.method == "PUT");
    let get = count(|asked| asked.method == "GET") - list;
    assert_eq!(asked.len() as u64, put + get + list, "{asked:?}");
    Requests { put, get, list }
}

#[tokio::test]
async fn a_beat_costs_two_requests_whatever_it_wants() {
    let (_site, http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    let (leader, follower) = (Contender::new(&store, &web, 1), Contender::new(&store, &web, 2));
    let mut held = leader.take(Claim::Vacant).await;
    follower.look().await;
    http_proxy.requests();
    for _ in 0..3 {
        held = leader.goes_on(held).await;
        assert_eq!(spent(&http_proxy), Requests { put: REQUESTS_PER_BEAT, get: 0, list: 0 });
        follower.look().await;
        assert_eq!(spent(&http_proxy), Requests { put: 1, get: 1, list: 0 });
    }
    // A record that may wait is not written, and what is known already is not sent again.
    follower.calm_look().await.expect("the server answers");
    assert_eq!(spent(&http_proxy), Requests { put: 0, get: 1, list: 0 });
    // A claim on what was just seen costs no more.
    let seen = follower.look().await;
    http_proxy.requests();
    let claim = Claim::Dead { boot: leader.boot() };
    let reply = follower.claim_on(&seen, claim).await;
    assert_eq!(
        reply.expect("the server answers").lease.map(|lease| lease.version.epoch.0),
        Some(2)
    );
    assert_eq!(spent(&http_proxy), Requests { put: REQUESTS_PER_BEAT, get: 0, list: 0 });
}

#[tokio::test]
async fn an_interval_costs_what_the_estimate_says() {
    const NODES: u64 = 4;
    let (site, http_proxy, _) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    let url = site.server.url_at(http_proxy.address);
    let mut peers = Vec::new();
    for boot in 1..=u128::from(NODES) {
        let store = baton_drivers::open(&url).await.expect("the server is fit");
        peers.push(Contender::new(&store, &web, boot));
    }
    let mut held = peers[0].take(Claim::Vacant).await;
    for peer in &peers[1..] {
        peer.look().await;
    }
    let members = peers[0].store.members(&web).await.expect("the server answers");
    assert_eq!(members.len() as u64, NODES);
    http_proxy.requests();
    let beats = 4;
    let mut counts = BTreeSet::new();
    for beat in 0..beats {
        held = peers[0].goes_on(held).await;
        for peer in &peers[1..] {
            let looked = if beat % 2 == 0 { peer.try_look().await } else { peer.calm_look().await };
            looked.expect("the server answers");
        }
        // The first in line looks between two beats.
        peers[1].glance().await.expect("the server answers");
        // What was written in the second of a listing is read; here nothing is.
        SystemClock.sleep(Duration::from_millis(1_100)).await;
        let members = peers[0].store.members(&web).await.expect("the server answers");
        counts.insert(members[1].record.beat);
    }
    let mut told = requests_per_hour(NODES, Duration::from_secs(3_600) / beats);
    let looks = u64::from(beats) * NODES;
    assert!((looks..=looks + 1).contains(&told.get), "{told:?}: an hour's beat is hardly fresh");
    told.get = looks;
    assert_eq!(spent(&http_proxy), told);
    assert_eq!(counts.len(), 2, "a beat was seen for each record written, and read for none");

    // No node beats: the listing shows that no record need be read.
    peers[0].store.members(&web).await.expect("the server answers");
    assert_eq!(spent(&http_proxy), Requests { put: 0, get: 0, list: 1 });
}

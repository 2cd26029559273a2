//! A store that an earlier version wrote is opened by this one, and nothing is lost.

use std::collections::BTreeMap;

use baton_drivers::fences;
use baton_testbed::written_before::{self, LAST, RESOURCE, space};

use crate::fixture::{Etcd, open};

#[tokio::test]
async fn a_store_of_an_earlier_version_loses_nothing() {
    let etcd = Etcd::start().await;
    let fixture: BTreeMap<String, String> =
        serde_json::from_str(include_str!("../fixtures/etcd.json")).expect("it is JSON");
    for (key, value) in fixture {
        etcd.client().put(&key, value).await;
    }
    let url = etcd.server.url();
    let stored = fences::list(&url, &space()).await.expect("the server answers");
    let stored: Vec<_> = stored.iter().map(|it| (it.resource.as_str(), it.epoch)).collect();
    assert_eq!(stored, [(RESOURCE, LAST)]);
    written_before::check(&open(&url).await).await;
}

/// The fixture holds what `fill` writes, and today's version writes no less.
#[tokio::test]
async fn a_store_of_this_version_passes_the_same_check() {
    let etcd = Etcd::start().await;
    let store = open(&etcd.server.url()).await;
    written_before::fill(&store).await;
    written_before::check(&store).await;
}

//! A store that an earlier version wrote is opened by this one, and nothing is lost.

use std::collections::BTreeMap;

use baton_drivers::fences;
use baton_testbed::Server;
use baton_testbed::written_before::{self, LAST, RESOURCE, space};
use serde::Deserialize;

use crate::fixture::{open, run, server};

/// What a key holds.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Value {
    String(String),
    List(Vec<String>),
    Hash(BTreeMap<String, String>),
    /// Each member and its score.
    ZSet(BTreeMap<String, u64>),
}

/// Writes the fixture, key by key.
async fn load(server: &Server) {
    let fixture: BTreeMap<String, Value> =
        serde_json::from_str(include_str!("../fixtures/redis.json")).expect("it is JSON");
    for (key, value) in fixture {
        let (command, rest) = match value {
            Value::String(text) => ("SET", vec![text]),
            Value::List(items) => ("RPUSH", items),
            Value::Hash(fields) => ("HSET", fields.into_iter().flat_map(<[_; 2]>::from).collect()),
            Value::ZSet(members) => {
                let pairs = members.into_iter();
                ("ZADD", pairs.flat_map(|(member, score)| [score.to_string(), member]).collect())
            }
        };
        let words = [command, &key].into_iter().chain(rest.iter().map(String::as_str));
        let _: redis::Value = run(server, &words.collect::<Vec<_>>()).await;
    }
}

#[tokio::test]
async fn a_store_of_an_earlier_version_loses_nothing() {
    let server = server(&[]).await;
    load(&server).await;
    let stored = fences::list(&server.url(), &space()).await.expect("the server answers");
    let stored: Vec<_> = stored.iter().map(|it| (it.resource.as_str(), it.epoch)).collect();
    assert_eq!(stored, [(RESOURCE, LAST)]);
    written_before::check(&open(&server.url()).await).await;
}

/// The fixture holds what `fill` writes, and today's version writes no less.
#[tokio::test]
async fn a_store_of_this_version_passes_the_same_check() {
    let server = server(&[]).await;
    let store = open(&server.url()).await;
    written_before::fill(&store).await;
    written_before::check(&store).await;
}

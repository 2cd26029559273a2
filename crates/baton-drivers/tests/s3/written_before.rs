//! A store that an earlier version wrote is opened by this one, and nothing is lost.

use std::collections::BTreeMap;

use baton_core::protocol::Claim;
use baton_drivers::s3::object_store::path::Path;
use baton_drivers::s3::object_store::{
    Attribute, Attributes, ObjectStore, ObjectStoreExt, PutOptions,
};
use baton_drivers::{fences, open};
use baton_store::{Precondition, WriteOutcome};
use baton_testbed::contender::Contender;
use baton_testbed::subject::Fixture;
use baton_testbed::written_before::{self, LAST, RESOURCE, space};
use serde::Deserialize;
use serde_json::Value;

use crate::fixture::S3Fixture;

#[derive(Deserialize)]
struct Object {
    metadata: BTreeMap<String, String>,
    body: Value,
}

/// A server with the objects of the fixture.
async fn fixture() -> S3Fixture {
    let site = S3Fixture::start().await;
    let objects: BTreeMap<String, Object> =
        serde_json::from_str(include_str!("../fixtures/s3.json")).expect("it is JSON");
    for (key, Object { metadata, body }) in objects {
        let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        let metadata =
            metadata.into_iter().map(|(name, it)| (Attribute::Metadata(name.into()), it));
        let attributes = Attributes::from_iter(metadata);
        let options = PutOptions { attributes, ..PutOptions::default() };
        let key = Path::from(format!("{}/{key}", site.prefix()));
        site.objects().put_opts(&key, body.into(), options).await.expect("it can be written");
    }
    site
}

/// What `state.json` says.
async fn state(site: &S3Fixture) -> Value {
    let key = site.folder(&space()).join("state.json");
    let read = site.objects().get(&key).await.expect("it is there");
    serde_json::from_slice(&read.bytes().await.expect("it can be read")).expect("it is JSON")
}

#[tokio::test]
async fn a_store_of_an_earlier_version_loses_nothing() {
    let site = fixture().await;
    let stored = fences::list(&site.url(), &space()).await.expect("the server answers");
    let stored: Vec<_> = stored.iter().map(|it| (it.resource.as_str(), it.epoch)).collect();
    assert_eq!(stored, [(&*format!("{}/fences/{RESOURCE}", site.prefix()), LAST)]);
    written_before::check(&open(&site.url()).await.expect("it can be opened")).await;
}

/// The fixture holds what `fill` writes, and today's version writes no less.
#[tokio::test]
async fn a_store_of_this_version_passes_the_same_check() {
    let site = S3Fixture::start().await;
    let store = open(&site.url()).await.expect("it can be opened");
    written_before::fill(&store).await;
    written_before::check(&store).await;
}

/// An earlier program can be put back until a document is written: it would misread that, and
/// finds a format that it does not know.
#[tokio::test]
async fn a_namespace_gets_the_next_format_when_a_document_is_written() {
    let site = fixture().await;
    let store = open(&site.url()).await.expect("it can be opened");
    let peer = Contender::new(&store, &space(), 3);
    let held = peer.take(Claim::Vacant).await;
    let held = peer.goes_on(held).await;
    let before = state(&site).await;
    assert_eq!(before["format"], 1);
    assert_eq!(before["space"]["documents"]["settings"][1]["text"], "colour = \"blue\"");
    assert!(before["space"].get("documents_in_objects").is_none());

    let write = async |name: &str| {
        let body = b"colour = \"red\"".to_vec();
        store.write_document(&space(), name, body, Precondition::Any, Some(held.epoch)).await
    };
    assert_eq!(write("other").await, Ok(WriteOutcome::Written(1)));
    let found = store.read_document(&space(), "settings").await.expect("the server answers");
    assert_eq!(found.map(|it| it.body), Some(b"colour = \"blue\"".to_vec()), "as it was written");
    assert_eq!(write("settings").await, Ok(WriteOutcome::Written(3)));
    let after = state(&site).await;
    assert_eq!(after["format"], 2);
    assert_eq!(after["space"]["documents_in_objects"], Value::from(vec!["other", "settings"]));
    assert!(!after.to_string().contains("colour"), "{after}");
    assert_eq!(site.bodies(&space()).await.len(), 2);
}

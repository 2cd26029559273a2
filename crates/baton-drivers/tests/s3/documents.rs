//! The bodies of documents are objects of their own.

use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{Claim, Failure};
use baton_drivers::open;
use baton_drivers::s3::object_store::ObjectStoreExt;
use baton_store::{
    BatchOutcome, Document, DocumentWrite, Precondition, Prune, PruneOutcome, Store, StoreError,
    WriteOutcome,
};
use baton_testbed::contender::{Contender, fresh_namespace};
use baton_testbed::wait::until;
use tokio::task::JoinSet;

use crate::fixture::S3Fixture;
use crate::http_proxy::{Reaction, SentRequest};
use crate::traps::{behind_http_proxy, once};

const MIB: usize = 1024 * 1024;

async fn write(
    store: &dyn Store,
    web: &Namespace,
    body: &[u8],
) -> Result<WriteOutcome, StoreError> {
    store.write_document(web, "d", body.to_vec(), Precondition::Any, None).await
}

async fn read(store: &dyn Store, web: &Namespace) -> Option<Document> {
    store.read_document(web, "d").await.expect("the server answers")
}

fn document(version: u64, body: &[u8]) -> Option<Document> {
    Some(Document { version, body: body.to_vec() })
}

fn is_body(asked: &SentRequest) -> bool {
    asked.target.contains("/documents/")
}

#[tokio::test]
async fn a_renewal_is_as_small_with_large_documents_as_without() {
    let (site, http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    let peer = Contender::new(&store, &web, 1);
    let mut held = peer.take(Claim::Vacant).await;
    let state = site.folder(&web).join("state.json");
    let objects = site.objects();
    let size = async || objects.head(&state).await.expect("it is there").size;
    let before = size().await;
    for name in ["a", "b", "c"] {
        let body = vec![b'x'; MIB];
        let written = store.write_document(&web, name, body, Precondition::Any, None).await;
        assert_eq!(written, Ok(WriteOutcome::Written(1)));
    }
    held = peer.goes_on(held).await;
    let bytes = size().await;
    assert!(bytes < before + 400, "{bytes} bytes after {before}");

    // A document costs two writes, and to read it two reads, or one if its body is known.
    http_proxy.requests();
    let written = store.write_document(&web, "d", vec![7], Precondition::Any, Some(held.epoch));
    assert_eq!(written.await, Ok(WriteOutcome::Written(1)));
    let puts: Vec<_> = http_proxy.requests().into_iter().map(|it| it.method).collect();
    assert_eq!(puts, ["PUT", "PUT"]);
    let other = open(&site.server.url_at(http_proxy.address)).await.expect("the server is fit");
    other.inspect(&web).await.expect("the server answers");
    for reads in [2, 1] {
        http_proxy.requests();
        assert_eq!(read(&*other, &web).await, document(1, &[7]));
        assert_eq!(http_proxy.requests().len(), reads);
    }
}

fn batch(names: &[&str], body: &[u8], precondition: Precondition) -> Vec<DocumentWrite> {
    let write =
        |name: &&str| DocumentWrite { name: (*name).to_owned(), body: body.to_vec(), precondition };
    names.iter().map(write).collect()
}

#[tokio::test]
async fn the_bodies_of_a_batch_are_committed_by_one_write_of_the_state() {
    let (site, http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    let names = ["a", "b", "c"];
    let owned = || names.map(str::to_owned).to_vec();
    assert_eq!(write(&*store, &web, b"one").await, Ok(WriteOutcome::Written(1)));
    http_proxy.requests();
    let written = store.write_documents(&web, batch(&names, b"one", Precondition::Absent), None);
    assert_eq!(written.await, Ok(BatchOutcome::Written(vec![1; 3])));
    let sent = http_proxy.requests();
    assert!(sent[..3].iter().all(|it| is_body(it) && it.method == "PUT"), "{sent:?}");
    assert!(sent[3].puts("state.json") && sent.len() == 4, "{sent:?}");

    // To read them is a look at the state, and what of the bodies is not known.
    let other = open(&site.server.url_at(http_proxy.address)).await.expect("the server is fit");
    other.inspect(&web).await.expect("the server answers");
    for requests in [4, 1] {
        http_proxy.requests();
        let found = other.read_documents(&web, owned()).await;
        assert_eq!(found, Ok(vec![document(1, b"one"); 3]));
        assert_eq!(http_proxy.requests().len(), requests);
    }
    http_proxy.requests();
    let nothing = store.write_documents(&web, Vec::new(), Some(Epoch(1))).await;
    assert_eq!(nothing, Ok(BatchOutcome::Written(Vec::new())));
    assert_eq!(store.read_documents(&web, Vec::new()).await, Ok(Vec::new()));
    assert_eq!(http_proxy.requests(), [], "an empty batch");

    // One of the bodies cannot be written: nothing is, and the others are removed.
    http_proxy.react(once(is_body, Reaction::Answer(500, "InternalError")));
    let on_first = || batch(&names, b"two", Precondition::Version(1));
    let failed = store.write_documents(&web, on_first(), None).await.expect_err("one failed");
    assert_eq!(failed.failure(), Failure::NotDone, "{failed}");
    assert_eq!(store.read_documents(&web, owned()).await, Ok(vec![document(1, b"one"); 3]));
    until("four bodies to be left", async || {
        store.inspect(&web).await.expect("the server answers");
        (site.bodies(&web).await.len() == 4).then_some(())
    })
    .await;
    let written = store.write_documents(&web, on_first(), None).await;
    assert_eq!(written, Ok(BatchOutcome::Written(vec![2; 3])));
    assert_eq!(other.read_documents(&web, owned()).await, Ok(vec![document(2, b"two"); 3]));
}

/// The process ends after it has written the body, or its write of the state gets no answer.
#[tokio::test]
async fn a_write_that_ends_half_way_loses_nothing_and_leaves_nothing_for_ever() {
    let (site, http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    assert_eq!(write(&*store, &web, b"one").await, Ok(WriteOutcome::Written(1)));
    for (reaction, expected) in [
        (Reaction::Answer(500, "InternalError"), document(1, b"one")),
        (Reaction::LoseReply, document(2, b"two")),
    ] {
        http_proxy.react(once(|asked| asked.puts("state.json"), reaction));
        let failed = write(&*store, &web, b"two").await.expect_err("there was no answer");
        assert_eq!(failed.failure(), Failure::Unknown, "{failed}");
        assert_eq!(read(&*store, &web).await, expected, "{reaction:?}");
    }
    // Without an answer to the write of the body, nothing was written for certain.
    http_proxy.react(once(is_body, Reaction::LoseReply));
    let failed = write(&*store, &web, b"three").await.expect_err("there was no answer");
    assert_eq!(failed.failure(), Failure::NotDone, "{failed}");
    assert_eq!(site.bodies(&web).await.len(), 4);

    // A prune leaves what is young, what a document has, and everything if its term is over.
    let prune = |dead_for| Prune { dead_for, keep_terms: 100, limit: 10 };
    let young = store.prune(&web, Epoch(2), prune(Duration::from_secs(3_600))).await;
    assert_eq!(young, Ok(PruneOutcome::Pruned { records: 0 }));
    let mut gone = 0;
    until("three bodies to be pruned", async || {
        let pruned = store.prune(&web, Epoch(2), prune(Duration::from_secs(1))).await;
        let Ok(PruneOutcome::Pruned { records }) = pruned else { unreachable!("{pruned:?}") };
        gone += records;
        (gone == 3).then_some(())
    })
    .await;
    assert_eq!(site.bodies(&web).await.len(), 1);
    let late = store.prune(&web, Epoch(1), prune(Duration::ZERO)).await;
    assert_eq!(late, Ok(PruneOutcome::Fenced), "the removal carried its epoch");
    let other = open(&site.server.url()).await.expect("the server is fit");
    assert_eq!(read(&*other, &web).await, document(2, b"two"));
}

/// Both have written their bodies before either writes the state.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_writers_one_wins_and_the_other_cleans_up() {
    let (site, http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    let url = format!("{}&timeout_ms=1000", site.server.url_at(http_proxy.address));
    let other = open(&url).await.expect("the server is fit");
    assert_eq!(write(&*store, &web, b"one").await, Ok(WriteOutcome::Written(1)));
    assert_eq!(read(&*other, &web).await, document(1, b"one"));
    let both = Barrier::new(2);
    let first_two = Mutex::new(0);
    http_proxy.react(move |asked| {
        let mut met = first_two.lock().expect("no holder panics");
        if is_body(asked) && asked.method == "PUT" && *met < 2 {
            *met += 1;
            drop(met);
            both.wait();
        }
        Reaction::Forward
    });
    let on_first = Precondition::Version(1);
    let [one, two] = [&store, &other]
        .map(|store| store.write_document(&web, "d", b"two".to_vec(), on_first, None));
    let (one, two) = tokio::join!(one, two);
    let mut outcomes = [one.expect("it answers"), two.expect("it answers")];
    outcomes.sort_by_key(|outcome| matches!(outcome, WriteOutcome::Conflict(_)));
    assert_eq!(outcomes, [WriteOutcome::Written(2), WriteOutcome::Conflict(2)]);
    assert_eq!(read(&*store, &web).await, document(2, b"two"));
    // The loser removes its own at once, and the winner what it replaced, with a later call.
    until("one body to be left", async || {
        for store in [&store, &other] {
            store.inspect(&web).await.expect("the server answers");
        }
        (site.bodies(&web).await.len() == 1).then_some(())
    })
    .await;
    assert_eq!(read(&*other, &web).await, document(2, b"two"));
}

/// The reader has read which object it is, and finds that it is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_comes_too_late_for_a_body_reads_the_next_one() {
    let (site, http_proxy, reader) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    let writer = open(&site.server.url()).await.expect("the server is fit");
    assert_eq!(write(&*writer, &web, b"one").await, Ok(WriteOutcome::Written(1)));
    let [arrived, goes_on] = [(); 2].map(|()| Arc::new(Barrier::new(2)));
    let (at_proxy, leaves_proxy) = (Arc::clone(&arrived), Arc::clone(&goes_on));
    let first = once(is_body, Reaction::Unconditional);
    http_proxy.react(move |asked| {
        if matches!(first(asked), Reaction::Unconditional) {
            at_proxy.wait();
            leaves_proxy.wait();
        }
        Reaction::Forward
    });
    let space = web.clone();
    let mut reading = JoinSet::new();
    reading.spawn(async move { read(&*reader, &space).await });
    let met = tokio::task::spawn_blocking(move || arrived.wait());
    met.await.expect("it does not panic");
    let [old] = &site.bodies(&web).await[..] else { unreachable!("one was written") };
    assert_eq!(write(&*writer, &web, b"two").await, Ok(WriteOutcome::Written(2)));
    site.objects().delete(old).await.expect("it can be removed");
    let met = tokio::task::spawn_blocking(move || goes_on.wait());
    met.await.expect("it does not panic");
    assert_eq!(reading.join_all().await, [document(2, b"two")]);
}

#[tokio::test]
async fn a_body_that_was_removed_by_hand_is_missed_by_name() {
    let site = S3Fixture::start().await;
    let web = fresh_namespace("web");
    let store = open(&site.server.url()).await.expect("the server is fit");
    assert_eq!(write(&*store, &web, b"one").await, Ok(WriteOutcome::Written(1)));
    for body in site.bodies(&web).await {
        site.objects().delete(&body).await.expect("it can be removed");
    }
    let other = open(&site.server.url()).await.expect("the server is fit");
    let missed = other.read_document(&web, "d").await.expect_err("it is gone");
    let StoreError::Corrupt { record, detail } = missed else { unreachable!("it was {missed}") };
    assert!(record.contains("/documents/document=d/"), "{record}");
    assert_eq!(detail, "document \"d\" has lost its body");
    assert_eq!(write(&*other, &web, b"two").await, Ok(WriteOutcome::Written(2)));
    assert_eq!(read(&*store, &web).await, document(2, b"two"));
}

#[tokio::test]
async fn what_is_too_large_is_refused_with_both_numbers() {
    let (_site, http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    let refused = write(&*store, &web, &vec![b'x'; MIB + 1]).await;
    assert_eq!(http_proxy.requests(), [], "nothing is written for it");
    let refused = refused.expect_err("it is too large").to_string();
    assert!(refused.contains("has 1048577 bytes, and at most 1048576 are allowed"), "{refused}");
    assert_eq!(read(&*store, &web).await, None);
    // What stays in the state is bounded as before: here the name.
    let name = "n".repeat(MIB);
    let written = store.write_document(&web, &name, Vec::new(), Precondition::Any, None).await;
    let refused = written.expect_err("it is too large").to_string();
    assert!(refused.contains("state.json would have ") && refused.contains("at most 1048576"));
}

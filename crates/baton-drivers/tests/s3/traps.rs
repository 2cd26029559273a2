//! What goes wrong with S3 and what speaks like it, each trap on a real server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use baton_core::protocol::{Claim, Failure, Outcome, Registration};
use baton_drivers::open;
use baton_drivers::s3::object_store::ObjectStoreExt;
use baton_store::{Precondition, Store, StoreError, WriteOutcome};
use baton_testbed::contender::{Contender, fresh_namespace};
use baton_testbed::subject::Fixture;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::fixture::S3Fixture;
use crate::http_proxy::{HttpProxy, Reaction, SentRequest};

/// A server, one in front of it, and a store that knows only the latter.
pub async fn behind_http_proxy() -> (S3Fixture, HttpProxy, Arc<dyn Store>) {
    let site = S3Fixture::start().await;
    let http_proxy = HttpProxy::of(site.server.address(), None);
    let store = open(&site.server.url_at(http_proxy.address)).await.expect("the server is fit");
    http_proxy.requests();
    (site, http_proxy, store)
}

/// Does this to the first request that the test is after, and nothing to any other.
pub fn once(
    is_it: impl Fn(&SentRequest) -> bool,
    reaction: Reaction,
) -> impl Fn(&SentRequest) -> Reaction {
    let done = AtomicBool::new(false);
    move |asked| match is_it(asked) && !done.swap(true, Ordering::Relaxed) {
        true => reaction,
        false => Reaction::Forward,
    }
}

/// A 409 says that another write was under way. It was not ours that went through, and it is not
/// said whose did.
#[tokio::test]
async fn a_409_decides_nothing() {
    let (_site, http_proxy, store) = behind_http_proxy().await;
    let peer = Contender::new(&store, &fresh_namespace("web"), 1);
    http_proxy
        .react(once(|asked| asked.puts("state.json"), Reaction::Answer(409, "OperationAborted")));
    let held = peer.take(Claim::Vacant).await;
    assert_eq!(held.epoch.0, 1);
    http_proxy
        .react(once(|asked| asked.puts("state.json"), Reaction::Answer(409, "OperationAborted")));
    let held = peer.goes_on(held).await;
    http_proxy
        .react(once(|asked| asked.puts("node-1.json"), Reaction::Answer(409, "OperationAborted")));
    let held = peer.goes_on(held).await;
    assert_eq!(held.epoch.0, 1);
}

/// One request, whatever is answered: a library that repeats a write turns its success into a 412.
#[tokio::test]
async fn a_write_is_never_repeated_and_no_answer_is_unknown() {
    let (_site, http_proxy, store) = behind_http_proxy().await;
    let peer = Contender::new(&store, &fresh_namespace("web"), 1);
    let mut held = peer.take(Claim::Vacant).await;
    let reactions = [
        (Reaction::Answer(500, "InternalError"), false),
        (Reaction::Answer(503, "SlowDown"), false),
        (Reaction::LoseReply, true),
    ];
    for (reaction, applied) in reactions {
        http_proxy.requests();
        http_proxy.react(
            move |asked| if asked.puts("state.json") { reaction } else { Reaction::Forward },
        );
        let failed = peer.renew(held).await.expect_err("there was no answer");
        assert_eq!(failed.failure(), Failure::Unknown, "{failed}");
        let writes = http_proxy.requests().iter().filter(|asked| asked.puts("state.json")).count();
        assert_eq!(writes, 1, "{reaction:?}");
        http_proxy.react(|_| Reaction::Forward);
        let seen = peer.look().await.lease.expect("it is held");
        assert_eq!(seen.version != held, applied, "{reaction:?}");
        held = peer.goes_on(seen.version).await;
    }
}

/// The server judges by the ETag, and an ETag is the digest of the content. A node's record, which
/// has one writer, keeps its own on purpose as long as it says nothing new.
#[tokio::test]
async fn no_two_writes_of_the_state_have_the_same_etag() {
    let (site, _http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    let peer = Contender::new(&store, &web, 1);
    let mut held = peer.take(Claim::Vacant).await;
    let objects = site.objects();
    let state = site.folder(&web).join("state.json");
    let worker = site.folder(&web).join("workers").join("worker=node-1.json");
    let (mut etags, mut records) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..5 {
        // The same bytes every time.
        let same = store.write_document(&web, "d", vec![7], Precondition::Any, None).await;
        assert!(matches!(same, Ok(WriteOutcome::Written(_))), "{same:?}");
        held = peer.goes_on(held).await;
        let meta = objects.head(&state).await.expect("it is there");
        assert!(etags.insert(meta.e_tag), "an ETag came twice");
        records.insert(objects.head(&worker).await.expect("it is there").e_tag);
    }
    assert_eq!(records.len(), 1, "the record said nothing new");
}

/// If-Match on what is not there is 404 on some servers and 412 on others: lost, either way.
#[tokio::test]
async fn a_record_that_was_removed_is_written_anew() {
    let (site, http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    let peer = Contender::new(&store, &web, 1);
    let mut held = peer.take(Claim::Vacant).await;
    let worker = site.folder(&web).join("workers").join("worker=node-1.json");
    for status in [404, 412] {
        site.objects().delete(&worker).await.expect("it can be removed");
        let is_update = |asked: &SentRequest| asked.puts("node-1.json") && asked.if_match.is_some();
        http_proxy.react(once(is_update, Reaction::Answer(status, "NoSuchKey")));
        held = peer.goes_on(held).await;
        assert!(site.objects().head(&worker).await.is_ok(), "after {status}");
    }
}

/// What was read without an ETag cannot be written on a condition: a person must look.
#[tokio::test]
async fn an_object_without_an_etag_is_refused() {
    let (site, http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    Contender::new(&store, &web, 1).take(Claim::Vacant).await;
    let other = open(&site.server.url_at(http_proxy.address)).await.expect("the server is fit");
    http_proxy.react(|_| Reaction::DropEtag);
    let refused = other.inspect(&web).await.expect_err("it has no ETag");
    let is_told = |detail: &str| detail.contains("metadata.json: 200 without ETag; ");
    assert!(matches!(&refused, StoreError::Refused { detail } if is_told(detail)), "{refused:?}");
}

/// A bucket that is gone is not a namespace that never had a lease.
#[tokio::test]
async fn a_missing_bucket_is_no_vacant_lease() {
    let (_site, http_proxy, store) = behind_http_proxy().await;
    let peer = Contender::new(&store, &fresh_namespace("web"), 1);
    let held = peer.take(Claim::Vacant).await;
    http_proxy.react(|_| Reaction::Answer(404, "NoSuchBucket"));
    for failed in [peer.try_look().await, peer.renew(held).await] {
        assert!(matches!(&failed, Err(StoreError::Refused { .. })), "{failed:?}");
    }
    let inspected = store.inspect(&peer.namespace).await;
    assert!(matches!(&inspected, Err(StoreError::Refused { .. })), "{inspected:?}");
}

/// A later format is refused before anything is written.
#[tokio::test]
async fn a_later_format_is_refused_with_both_numbers() {
    let (site, http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    let objects = site.objects();
    let metadata = site.folder(&web).join("metadata.json");
    objects.put(&metadata, "{\"format\":3}".into()).await.expect("it can be written");
    let peer = Contender::new(&store, &web, 1);
    let refused = peer.try_look().await.expect_err("it is a later format").to_string();
    assert!(refused.contains("metadata.json has format 3, and this program knows 2"), "{refused}");
    assert!(!http_proxy.requests().iter().any(|asked| asked.method == "PUT"));

    let shop = fresh_namespace("shop");
    let peer = Contender::new(&store, &shop, 1);
    let held = peer.take(Claim::Vacant).await;
    let state = site.folder(&shop).join("state.json");
    objects.put(&state, "{\"format\":3}".into()).await.expect("it can be written");
    let refused = peer.renew(held).await.expect_err("it is a later format").to_string();
    assert!(refused.contains("state.json has format 3, and this program knows 2"), "{refused}");
}

/// The last hundred terms are kept.
#[tokio::test]
async fn terms_are_forgotten_after_a_hundred() {
    let (_site, _http_proxy, store) = behind_http_proxy().await;
    let web = fresh_namespace("web");
    for boot in 1..=105 {
        let claim = match boot {
            1 => Claim::Vacant,
            _ => Claim::Dead { boot: baton_core::ids::BootId(boot - 1) },
        };
        Contender::new(&store, &web, boot).take(claim).await;
    }
    let terms = store.history(&web, 1_000).await.expect("the server answers");
    assert_eq!((terms.len(), terms[0].epoch.0, terms[99].epoch.0), (100, 105, 6));
}

/// Racing creates and updates have one winner each, through handles of their own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_race_has_one_winner() {
    const RIVALS: u128 = 8;
    let site = S3Fixture::start().await;
    for round in 0..5 {
        let web = fresh_namespace(&format!("race-{round}"));
        let start = Arc::new(Barrier::new(usize::try_from(RIVALS).expect("few")));
        let mut race = JoinSet::new();
        for boot in 1..=RIVALS {
            let store = open(&site.url()).await.expect("the server is fit");
            let (peer, start) = (Contender::new(&store, &web, boot), Arc::clone(&start));
            race.spawn(async move {
                let seen = peer.look().await;
                start.wait().await;
                peer.claim_on(&seen, Claim::Vacant).await
            });
        }
        let replies = race.join_all().await;
        let won = |reply: &&Result<_, _>| {
            matches!(
                reply,
                Ok(baton_core::protocol::BeatReply { outcome: Some(Outcome::Applied), .. })
            )
        };
        assert_eq!(replies.iter().filter(won).count(), 1, "{replies:?}");
        let all = |reply: &Result<baton_core::protocol::BeatReply, _>| {
            reply.as_ref().is_ok_and(|reply| reply.registration == Registration::Registered)
        };
        assert!(replies.iter().all(all), "{replies:?}");
    }
}

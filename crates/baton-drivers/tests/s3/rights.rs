//! The least that a user must be allowed, as docs/stores/s3.md lists it, enforced in front of the
//! server: everything works with that and nothing more.

use baton_core::protocol::{Claim, Outcome};
use baton_drivers::open;
use baton_store::{FindingLevel, Precondition, WriteOutcome};
use baton_testbed::contender::{Contender, fresh_namespace};

use crate::fixture::S3Fixture;
use crate::http_proxy::{HttpProxy, Reaction, SentRequest};

const DENIED: Reaction = Reaction::Answer(403, "AccessDenied");

/// Which action of the policy a request needs; `None` if it is for something else than the prefix.
fn action(asked: &SentRequest) -> Option<&'static str> {
    let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
    let in_prefix = path.starts_with("/baton/test/");
    match asked.method.as_str() {
        "GET" if in_prefix && query.is_empty() => Some("s3:GetObject"),
        "PUT" if in_prefix && query.is_empty() => Some("s3:PutObject"),
        "DELETE" if in_prefix && query.is_empty() => Some("s3:DeleteObject"),
        "GET" if asked.lists() && query.contains("prefix=test%2F") => Some("s3:ListBucket"),
        _ => None,
    }
}

#[tokio::test]
async fn four_actions_under_the_prefix_are_enough() {
    let site = S3Fixture::start().await;
    let http_proxy = HttpProxy::of(site.server.address(), None);
    http_proxy.react(|asked| if action(asked).is_some() { Reaction::Forward } else { DENIED });
    let store = open(&site.server.url_at(http_proxy.address)).await.expect("it is allowed enough");
    let web = fresh_namespace("web");
    let peer = Contender::new(&store, &web, 1);
    let held = peer.take(Claim::Vacant).await;
    let held = peer.goes_on(held).await;
    let written =
        store.write_document(&web, "d", vec![1], Precondition::Any, Some(held.epoch)).await;
    assert_eq!(written, Ok(WriteOutcome::Written(1)));
    assert_eq!(store.members(&web).await.map(|members| members.len()), Ok(1));
    assert_eq!(peer.release(held).await, Outcome::Applied);
    assert_eq!(store.leave(&web, &peer.id(), peer.boot()).await, Ok(Outcome::Applied));
    assert_eq!(store.members(&web).await, Ok(Vec::new()));

    let findings = store.examine().await.expect("the server answers");
    let found = |check| findings.iter().find(|it| it.check == check).map(|it| it.detail.as_str());
    assert_eq!(found("versioning"), Some("this user may not ask"));
    assert!(findings.iter().all(|it| it.verdict == FindingLevel::Ok), "{findings:?}");
}

#[tokio::test]
async fn each_missing_right_is_refused_at_once_and_by_name() {
    let site = S3Fixture::start().await;
    let lacking = [
        ("s3:GetObject", "this user may not GET test/self-test/"),
        ("s3:PutObject", "this user may not PUT test/self-test/"),
        ("s3:DeleteObject", "this user may not DELETE test/self-test/"),
        ("s3:ListBucket", "this user may not LIST test/self-test"),
    ];
    for (right, wanted) in lacking {
        let http_proxy = HttpProxy::of(site.server.address(), None);
        http_proxy.react(move |asked| match action(asked) {
            Some(action) if action != right => Reaction::Forward,
            _ => DENIED,
        });
        let refused =
            open(&site.server.url_at(http_proxy.address)).await.err().map(|it| it.to_string());
        let refused = refused.expect("it must be refused");
        assert!(refused.contains(wanted), "without {right}: {refused}");
        assert!(refused.ends_with("; grant what docs/stores/s3.md lists"), "{refused}");
    }
}

#[tokio::test]
async fn old_versions_that_pile_up_are_pointed_out() {
    let site = S3Fixture::start().await;
    let store = open(&site.server.url()).await.expect("the server is fit");
    let verdict = async || {
        let findings = store.examine().await.expect("the server answers");
        findings.into_iter().find(|it| it.check == "versioning").expect("it is looked at")
    };
    assert_eq!(verdict().await.verdict, FindingLevel::Ok);
    site.keep_versions();
    let found = verdict().await;
    assert_eq!(found.verdict, FindingLevel::Warn);
    assert!(found.remedy.is_some_and(|remedy| remedy.contains("lifecycle rule")));
}

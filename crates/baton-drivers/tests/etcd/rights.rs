//! A server that asks for users: the least that a user needs, and why the others are refused.

use std::sync::Arc;

use baton_core::ids::BootId;
use baton_core::protocol::{Claim, Outcome, View, ViewVersion};
use baton_drivers::etcd::fence::Fence;
use baton_store::{FindingLevel, Precondition, WriteOutcome};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::wait::until;
use baton_testbed::{Kind, Server};

use crate::fixture::open;
use crate::raw_client::{RawClient, encoded};
use crate::refusals::refusal;

/// Makes the users, as docs/stores/etcd.md says, and lets etcd ask for them.
async fn with_users() -> Server {
    let server = Server::start(Kind::Etcd).await.expect("etcd can be started");
    let client = RawClient::on(server.address());
    let role = |name: &str, kind: &str, from: &str, to: &str| {
        let perm = format!(
            r#""permType":"{kind}","key":"{}","range_end":"{}""#,
            encoded(from),
            encoded(to)
        );
        format!(r#"{{"name":"{name}","perm":{{{perm}}}}}"#)
    };
    let named = |name: &str| format!(r#"{{"name":"{name}"}}"#);
    let steps = [
        ("auth/role/add", named("root")),
        ("auth/role/add", named("baton")),
        ("auth/role/grant", role("baton", "READWRITE", "baton/", "baton0")),
        ("auth/role/add", named("reader")),
        ("auth/role/grant", role("reader", "READ", "baton/", "baton0")),
    ];
    for (path, body) in steps {
        let answer = client.post(path, body).await;
        assert!(answer.get("header").is_some(), "{path}: {answer}");
    }
    for (user, role) in [("root", "root"), ("baton", "baton"), ("reader", "reader")] {
        client.post("auth/user/add", format!(r#"{{"name":"{user}","password":"hush"}}"#)).await;
        let body = format!(r#"{{"user":"{user}","role":"{role}"}}"#);
        let answer = client.post("auth/user/grant", body).await;
        assert!(answer.get("header").is_some(), "{answer}");
    }
    let answer = client.post("auth/enable", "{}".to_owned()).await;
    assert!(answer.get("header").is_some(), "{answer}");
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readwrite_on_the_prefix_is_enough() {
    let server = with_users().await;
    let place = server.address();
    let url = format!("etcd://baton:hush@{place}");
    let store = open(&url).await;
    let space = namespace("rights");
    let node = Contender::new(&store, &space, 1);
    let mut hints = store.hints(&space).await.expect("a user may watch");
    let held = node.take(Claim::Vacant).await;
    let held = node.renew(held).await.expect("answers").lease.expect("held").version;
    let view = Arc::new(View {
        version: ViewVersion { epoch: held.epoch, number: 1 },
        coordinator: node.id(),
        members: vec![],
        successors: vec![],
        certain: 0,
    });
    assert_eq!(store.publish_view(&space, held.epoch, view).await, Ok(Outcome::Applied));
    assert!(hints.recv().await.is_some());
    let any = Precondition::Any;
    let written = store.write_document(&space, "d", b"x".to_vec(), any, Some(held.epoch)).await;
    assert_eq!(written, Ok(WriteOutcome::Written(1)));
    assert_eq!(store.history(&space, 5).await.expect("answers").len(), 1);
    assert_eq!(store.members(&space).await.expect("answers").len(), 1);
    assert!(store.inspect(&space).await.expect("answers").lease.is_some());
    let reads = format!("etcd://reader:hush@{place}");
    let reader = baton_drivers::open_to_read(&reads).await.expect("a user may read");
    assert!(reader.inspect(&space).await.expect("answers").lease.is_some());
    assert_eq!(reader.history(&space, 5).await.expect("answers").len(), 1);
    assert_eq!(reader.members(&space).await.expect("answers").len(), 1);
    let fence = Fence::open(&url, &space, "r").await.expect("a user may");
    fence.put(held.epoch, "baton/mine", b"x").await.expect("a user may");
    let findings = store.examine().await.expect("answers");
    assert!(findings.iter().all(|it| it.verdict != FindingLevel::Fail), "{findings:?}");
    let login = findings.iter().find(|it| it.check == "login").expect("it is looked at");
    assert_eq!(login.verdict, FindingLevel::Ok);
    assert_eq!(node.release(held).await, Outcome::Applied);
    assert_eq!(store.leave(&space, &node.id(), BootId(1)).await, Ok(Outcome::Applied));

    // Tokens are forgotten when etcd restarts; a new one is asked for, and no call fails.
    server.stop().await.expect("it is ours");
    server.start_again().await.expect("it starts");
    let node = Contender::new(&store, &space, 2);
    until("the store to answer", async || node.claim(Claim::Vacant).await.ok()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_are_refused_with_what_they_lack() {
    let server = with_users().await;
    let place = server.address();
    let no_login = format!("etcd at {place} refuses this user (");
    for login in ["", "baton:wrong@", "nobody:hush@", "baton@"] {
        let refused = refusal(&format!("etcd://{login}{place}")).await;
        assert!(refused.starts_with(&no_login), "{login:?} gave {refused:?}");
        assert!(refused.ends_with("); check user and password"), "{login:?} gave {refused:?}");
    }
    for (login, prefix) in [("reader", "baton"), ("baton", "other")] {
        let refused = refusal(&format!("etcd://{login}:hush@{place}/{prefix}")).await;
        let wanted = format!(
            "etcd at {place}: this user may not read and write keys under {prefix}/; run etcdctl \
             role grant-permission ROLE --prefix=true readwrite {prefix}/"
        );
        assert_eq!(refused, wanted);
    }

    // The password may lie in a file; a variable is the address's own business.
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("password");
    std::fs::write(&file, "hush\n").expect("there is room");
    let url = format!("etcd://baton@{place}?password_file={}", file.display());
    assert_eq!(open(&url).await.declaration().name, "etcd");
}

//! A user who may do what the documentation lists, and nothing else.

use std::sync::Arc;

use baton_core::protocol::{Ask, Claim, HandoverKind, Outcome, View, ViewVersion};
use baton_store::{FindingLevel, Precondition, WriteOutcome};
use baton_testbed::contender::Contender;
use baton_testbed::counting::count_once;

use crate::fixture::{MysqlFixture, contender};

const DOCUMENTATION: &str = include_str!("../../../../docs/stores/mysql.md");

/// The statements of the documentation's only listing.
fn grants() -> Vec<&'static str> {
    let listing = DOCUMENTATION.split("```").nth(1).expect("there is a listing");
    let lines = listing.lines().skip(1).filter(|line| !line.is_empty());
    lines.map(|line| line.trim_end_matches(';')).collect()
}

#[tokio::test]
async fn the_documented_grants_are_enough_once_the_schema_is_there() {
    let fixture = MysqlFixture::start().await;
    fixture.sql("DROP USER IF EXISTS 'app'@'%'").await;
    fixture.sql("DROP DATABASE IF EXISTS baton").await;
    fixture.sql_anywhere("CREATE DATABASE baton").await;
    let (create, grants) = (grants()[0], &grants()[1..]);
    fixture.sql(create).await;
    let address = fixture.server.address();
    let url = format!("mysql://app:change-me@{address}/baton");

    // The error for a user who may read but not create says what to run.
    fixture.sql("GRANT SELECT ON baton.* TO 'app'@'%'").await;
    let refused = baton_drivers::open(&url).await.expect_err("nothing is there").to_string();
    assert!(refused.contains("run `baton doctor` once as a user with CREATE"), "{refused}");
    assert!(!refused.contains("change-me") && !refused.contains('\n'), "{refused}");
    fixture.sql("REVOKE SELECT ON baton.* FROM 'app'@'%'").await;

    drop(baton_drivers::open(&fixture.server.url()).await.expect("the superuser may"));
    for grant in grants {
        fixture.sql(grant).await;
    }
    everything_works(contender(&url, "rights", 1).await).await;
}

async fn everything_works(peer: Contender) {
    let held = peer.take(Claim::Vacant).await;
    let held = peer.goes_on(held).await;
    let (store, space) = (peer.store.clone(), peer.namespace.clone());
    let view = View {
        version: ViewVersion { epoch: held.epoch, number: 1 },
        coordinator: peer.record.id.clone(),
        members: vec![],
        successors: vec![],
        certain: 0,
    };
    for number in [1, 2] {
        let version = ViewVersion { epoch: held.epoch, number };
        let view = Arc::new(View { version, ..view.clone() });
        let published = store.publish_view(&space, held.epoch, view).await;
        assert_eq!(published, Ok(Outcome::Applied));
        let written =
            store.write_document(&space, "d", vec![1], Precondition::Any, Some(held.epoch)).await;
        assert_eq!(written, Ok(WriteOutcome::Written(number)));
    }
    assert_eq!(count_once(&*store, &space, held.epoch).await, 1);
    let ask = Ask { nonce: peer.next_nonce(), wish: HandoverKind::Resign };
    assert_eq!(store.ask(&space, held.epoch, ask).await, Ok(Outcome::Applied));
    assert!(store.inspect(&space).await.expect("it may").view.is_some());
    assert!(store.read_document(&space, "d").await.expect("it may").is_some());
    assert_eq!(store.members(&space).await.expect("it may").len(), 1);
    assert_eq!(peer.release(held).await, Outcome::Applied);
    assert_eq!(store.history(&space, 5).await.expect("it may").len(), 1);
    let left = store.leave(&space, &peer.record.id, peer.record.boot).await;
    assert_eq!(left, Ok(Outcome::Applied));

    let findings = store.examine().await.expect("it may look");
    let failed: Vec<_> = findings.iter().filter(|it| it.verdict == FindingLevel::Fail).collect();
    assert!(failed.is_empty(), "{failed:?}");
    let checks: Vec<&str> = findings.iter().map(|finding| finding.check).collect();
    for wanted in ["version", "durability", "replication", "connections", "rights", "clock"] {
        assert!(checks.contains(&wanted), "{wanted} is not among {checks:?}");
    }
}

/// A server that would lose grants, and one that cannot be written to, are told as such.
#[tokio::test]
async fn settings_that_weaken_a_promise_are_found() {
    let arguments =
        ["--innodb-flush-log-at-trx-commit=2", "--log-bin", "--sync-binlog=0", "--server-id=7"];
    let fixture = MysqlFixture::start_with(&arguments).await;
    let store = baton_drivers::open(&fixture.server.url()).await.expect("it can be opened");
    let found = async |check: &str, verdict: FindingLevel| {
        let findings = store.examine().await.expect("it may look");
        let is = |it: &&baton_store::Finding| it.check == check && it.verdict == verdict;
        let found = findings.iter().find(is).map(|it| it.remedy.clone());
        found.unwrap_or_else(|| unreachable!("no {check} in {findings:?}"))
    };
    assert_eq!(found("durability", FindingLevel::Warn).await.as_deref(), Some("set it to 1"));
    assert_eq!(found("binlog", FindingLevel::Warn).await.as_deref(), Some("set it to 1"));
    fixture.sql("SET GLOBAL read_only = 1").await;
    assert_eq!(found("replication", FindingLevel::Fail).await.as_deref(), Some("name the primary"));
    fixture.sql("SET GLOBAL read_only = 0").await;

    // What does not fit into a packet is not sent, and the next step is none the worse for it.
    fixture.sql("SET GLOBAL max_allowed_packet = 1048576").await;
    let small = contender(&fixture.server.url(), "packets", 1).await;
    let body = vec![7; 600_000];
    let write = small.store.write_document(&small.namespace, "d", body, Precondition::Any, None);
    let refused = write.await.expect_err("it is too large").to_string();
    assert!(refused.contains("raise max_allowed_packet, or write less at once"), "{refused}");
    assert!(small.try_look().await.is_ok());

    // Sessions take the format when they begin.
    fixture.sql("SET GLOBAL binlog_format = 'STATEMENT'").await;
    let told = found("binlog", FindingLevel::Fail).await;
    assert_eq!(told.as_deref(), Some("set binlog_format to ROW or MIXED"));
    let late = contender(&fixture.server.url(), "binlog", 1).await;
    let refused = late.try_look().await.expect_err("the server refuses it").to_string();
    assert!(refused.contains("set binlog_format to ROW or MIXED"), "{refused}");
}

//! The user of docs/stores/redis.md, with exactly its rules.

use baton_core::protocol::{Claim, Outcome};
use baton_store::FindingLevel;
use baton_testbed::Server;
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::counting::count_once;

use crate::fixture::open;
use crate::fixture::{run, server};

/// The rules as the documentation shows them: the words of its `ACL SETUSER` line.
fn documented() -> Vec<String> {
    let page = include_str!("../../../../docs/stores/redis.md");
    let line = page.lines().find(|line| line.starts_with("ACL SETUSER baton "));
    let words = line.expect("the page has the line").split_whitespace();
    words.map(|word| word.replace("PASSWORD", "hush")).collect()
}

async fn with_user(rules: &[String]) -> (Server, String) {
    let server = server(&[]).await;
    let words: Vec<&str> = rules.iter().map(String::as_str).collect();
    let _: () = run(&server, &words).await;
    let url = format!("redis://baton:hush@{}", server.address());
    (server, url)
}

#[tokio::test]
async fn the_documented_user_can_do_everything() {
    let (_server, url) = with_user(&documented()).await;
    let store = open(&url).await;
    let node = Contender::new(&store, &namespace("web"), 1);
    let mut hints = store.hints(&node.namespace).await.expect("it may listen");
    let held = node.take(Claim::Vacant).await;
    assert_eq!(count_once(&*store, &node.namespace, held.epoch).await, 1);
    assert_eq!(node.release(held).await, Outcome::Applied);
    assert!(hints.recv().await.is_some());
    assert_eq!(store.members(&node.namespace).await.map(|members| members.len()), Ok(1));
    assert_eq!(store.history(&node.namespace, 9).await.map(|terms| terms.len()), Ok(1));
    let findings = store.examine().await.expect("it may look");
    assert!(findings.iter().all(|finding| finding.verdict == FindingLevel::Ok), "{findings:?}");
}

#[tokio::test]
async fn each_missing_rule_is_told_when_the_store_is_opened() {
    let all = documented();
    for (rule, wanted) in [
        ("+hset", "this user may not run HSET on baton:{any}:lease"),
        ("~baton:*", "this user may not run "),
        ("&baton:*", "PUBLISH on baton:{any}:hints"),
        ("+evalsha", "this user may not run "),
        ("+zrangebylex", "this user may not run ZRANGEBYLEX on baton:{any}:counters:names"),
        ("+info", "this user may not run what the store needs"),
    ] {
        assert!(all.iter().any(|given| given == rule), "the page has {rule}");
        let rules: Vec<String> = all.iter().filter(|given| *given != rule).cloned().collect();
        let (_server, url) = with_user(&rules).await;
        let refused = baton_drivers::open(&url).await.expect_err("a rule is missing").to_string();
        assert!(refused.contains(wanted), "without {rule}: {refused}");
        assert!(!refused.contains("hush") && !refused.contains('\n'), "{refused}");
    }
}

#[tokio::test]
async fn the_right_to_read_is_enough_for_a_reader() {
    let (server, url) = with_user(&documented()).await;
    let store = open(&url).await;
    let node = Contender::new(&store, &namespace("web"), 1);
    let held = node.take(Claim::Vacant).await;
    count_once(&*store, &node.namespace, held.epoch).await;
    let page = include_str!("../../../../docs/stores/redis.md");
    let rules = page.split("and needs `").nth(1).and_then(|rest| rest.split('`').next());
    let mut words = vec!["ACL", "SETUSER", "looker", "on", ">hush", "~baton:*"];
    words.extend(rules.expect("the page lists them").split_whitespace());
    let _: () = run(&server, &words).await;
    let url = format!("redis://looker:hush@{}", server.address());
    let refused = baton_drivers::open(&url).await.expect_err("it may not write").to_string();
    assert!(refused.contains("may not run HSET"), "{refused}");
    let reader = baton_drivers::open_to_read(&url).await.expect("it may look");
    let seen = reader.inspect(&node.namespace).await.expect("it may look");
    assert_eq!(seen.lease.map(|lease| lease.version), Some(held));
    assert_eq!(reader.members(&node.namespace).await.map(|members| members.len()), Ok(1));
    assert_eq!(reader.history(&node.namespace, 9).await.map(|terms| terms.len()), Ok(1));
    assert_eq!(reader.read_document(&node.namespace, "d").await, Ok(None));
    let refused = reader.leave(&node.namespace, &node.record.id, node.record.boot).await;
    assert!(refused.expect_err("it is for reading").to_string().contains("opened to read"));
}

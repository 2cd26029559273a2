//! Expired keys of the user's own, by an index of the user's own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_drivers::sweep::{self, Keys, Strategy};
use baton_store::sweep::{Sweep, SweepError};
use baton_testbed::Server;
use baton_testbed::expiry::{self, Records};
use baton_testbed::wait::until;

use crate::fixture::{client, run, server};

/// Keys of the user's, and the index that names them.
struct Things<'a>(&'a Server);

impl Things<'_> {
    fn sweep(&self, strategy: Strategy) -> Arc<dyn Sweep> {
        let keys = Keys::by_index("things");
        sweep::open(&self.0.url(), keys, strategy).expect("the index has a name")
    }
}

#[async_trait]
impl Records for Things<'_> {
    async fn now_ms(&self) -> i64 {
        let (seconds, micros): (i64, i64) = run(self.0, &["TIME"]).await;
        seconds * 1_000 + micros / 1_000
    }

    async fn put(&self, expiries: &BTreeMap<u32, i64>) {
        let mut connection = client(self.0).await;
        let mut all = redis::pipe();
        for (id, at) in expiries {
            all.cmd("HSET").arg(format!("thing:{id}")).arg("name").arg("x");
            all.cmd("ZADD").arg("things").arg(*at).arg(format!("thing:{id}"));
        }
        let _: redis::Value = all.query_async(&mut connection).await.expect("it does it");
    }

    async fn left(&self) -> Vec<u32> {
        let keys: Vec<String> = run(self.0, &["KEYS", "thing:*"]).await;
        let indexed: Vec<String> = run(self.0, &["ZRANGE", "things", "0", "-1"]).await;
        assert_eq!(keys.len(), indexed.len(), "the index names what is there");
        let number = |key: &String| key.strip_prefix("thing:")?.parse().ok();
        let mut left: Vec<u32> = keys.iter().filter_map(number).collect();
        left.sort_unstable();
        left
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_expired_goes_and_nothing_goes_early() {
    let server = server(&[]).await;
    let things = Things(&server);
    let sweep = things.sweep(Strategy::Delete);
    expiry::none_early_and_none_left(&things, &*sweep).await;
    assert_eq!(things.left().await.len(), 2, "those that are not due for long");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_are_bounded_updates_count_and_epochs_fence() {
    let server = server(&[]).await;
    let things = Things(&server);
    let sweep = things.sweep(Strategy::Delete);
    expiry::a_backlog_goes_in_bounded_batches(&things, &*sweep).await;
    expiry::an_update_saves_a_record(&things, &*sweep).await;
    let _: String = run(&server, &["FLUSHALL"]).await;
    expiry::a_later_epoch_ends_it(&things, &*sweep).await;
    // The connection is cut, and the scripts are forgotten: the next batch sees to both.
    things.put(&[(1, 0)].into()).await;
    let _: String = run(&server, &["SCRIPT", "FLUSH"]).await;
    let _: i64 = run(&server, &["CLIENT", "KILL", "TYPE", "normal"]).await;
    until("a connection anew", async || sweep.batch(Epoch(9), 10).await.ok()).await;
    assert_eq!(things.left().await, Vec::<u32>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_marked_moved_or_handed_over() {
    let server = server(&[]).await;
    let things = Things(&server);
    let later = things.now_ms().await + 3_600_000;
    things.put(&[(1, 1), (2, later)].into()).await;
    let soft = things.sweep(Strategy::soft_delete("gone"));
    assert_eq!(soft.batch(Epoch(1), 100).await.expect("it is there").records, 1);
    let gone: i64 = run(&server, &["HGET", "thing:1", "gone"]).await;
    assert!(gone > 1_600_000_000_000, "{gone}");
    let indexed: Vec<String> = run(&server, &["ZRANGE", "things", "0", "-1"]).await;
    assert_eq!(indexed, ["thing:2"], "what is marked is due no more");

    things.put(&[(1, 1), (3, 2), (4, 3)].into()).await;
    let _: i64 = run(&server, &["DEL", "thing:3"]).await;
    let archive = things.sweep(Strategy::archive("old:"));
    assert_eq!(archive.batch(Epoch(1), 2).await.expect("it is there").records, 2);
    let kept: i64 = run(&server, &["EXISTS", "old:thing:1"]).await;
    assert_eq!(kept, 1);
    assert_eq!(things.left().await, [2, 4]);

    let refuse = Strategy::callback(|_| async { Err("not now".into()) });
    let refused = things.sweep(refuse).batch(Epoch(1), 9).await.expect_err("it said no");
    assert!(matches!(refused, SweepError::Callback { .. }), "{refused:?}");
    things.put(&[(5, 4)].into()).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let (keep, url) = (Arc::clone(&told), server.url());
    let callback = Strategy::callback(move |rows| {
        keep.lock().expect("no holder panics").extend(rows);
        let url = url.clone();
        async move {
            // Its expiry moves while it is handed over: it stays.
            let mut user = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
            redis::cmd("ZADD")
                .arg("things")
                .arg(later)
                .arg("thing:5")
                .exec_async(&mut user)
                .await?;
            Ok(())
        }
    });
    assert_eq!(things.sweep(callback).batch(Epoch(1), 9).await.expect("it went well").records, 1);
    let told = told.lock().expect("no holder panics").clone();
    assert_eq!((told.len(), &told[0]["key"]), (2, &"thing:4".into()));
    assert_eq!((&told[0]["value"]["name"], &told[0]["expires_ms"]), (&"x".into(), &3.0.into()));
    assert_eq!(things.left().await, [2, 5]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_swept_is_told_in_one_line() {
    let server = server(&[]).await;
    let things = Things(&server);
    let _: String = run(&server, &["SET", "text", "x"]).await;
    let _: i64 = run(&server, &["ZADD", "things", "1", "text"]).await;
    let marking = things.sweep(Strategy::soft_delete("gone")).batch(Epoch(1), 9).await;
    let message = marking.expect_err("it is no hash").to_string();
    assert!(message.contains("key text is a string, and only a hash can be marked"), "{message}");
    let wrong = sweep::open(&server.url(), Keys::by_index("text"), Strategy::Delete);
    let wrong = wrong.expect("it has a name");
    let looked = wrong.examine().await.expect_err("it is no sorted set").to_string();
    assert!(looked.ends_with("text is a string, and a sorted set is needed"), "{looked}");
    let wrong = wrong.batch(Epoch(1), 9).await;
    let wrong = wrong.expect_err("it is no sorted set");
    assert!(matches!(wrong, SweepError::Rejected { .. }), "{wrong:?}");
    assert!(wrong.to_string().starts_with("redis index text cannot be swept: "), "{wrong}");
    let _: String = run(&server, &["SET", "baton:fence:{ttl:things}", "soon"]).await;
    let foreign = things.sweep(Strategy::Delete).batch(Epoch(1), 9).await;
    let message = foreign.expect_err("the fence is spoilt").to_string();
    assert!(message.contains("holds something other than an epoch"), "{message}");
    let away = sweep::open("redis://127.0.0.1:1", Keys::by_index("x"), Strategy::Delete);
    let away = away.expect("it has a name").batch(Epoch(1), 1).await;
    assert!(matches!(away, Err(SweepError::Unavailable { .. })), "{away:?}");
}

/// What docs/stores/redis.md lists is enough, and less is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documented_rights_are_enough() {
    const DOCUMENTATION: &str = include_str!("../../../../docs/stores/redis.md");
    let server = server(&[]).await;
    let things = Things(&server);
    let listed = DOCUMENTATION.split("`+get ").nth(1).and_then(|rest| rest.split('`').next());
    let listed = format!("+get {}", listed.expect("they are listed"));
    let connect = ["+eval", "+evalsha", "+info", "+ping", "~thing*", "~old:*", "~baton:*"];
    let words = ["ACL", "SETUSER", "sweeper", "on", ">hush", "-@all"];
    let words = words.into_iter().chain(connect).chain(listed.split_whitespace());
    let _: String = run(&server, &words.collect::<Vec<_>>()).await;
    let url = server.url().replace("redis://", "redis://sweeper:hush@");
    let all = [
        Strategy::Delete,
        Strategy::soft_delete("gone"),
        Strategy::archive("old:"),
        Strategy::callback(|_| std::future::ready(Ok(()))),
    ];
    for (id, strategy) in (0..).zip(all) {
        things.put(&[(id, 1)].into()).await;
        let sweep = sweep::open(&url, Keys::by_index("things"), strategy).expect("it has a name");
        sweep.examine().await.expect("it may");
        assert_eq!(sweep.batch(Epoch(1), 9).await.expect("it may").records, 1);
    }
    let _: String = run(&server, &["ACL", "SETUSER", "sweeper", "-unlink"]).await;
    things.put(&[(9, 1)].into()).await;
    let sweep = sweep::open(&url, Keys::by_index("things"), Strategy::Delete);
    let refused = sweep.expect("it has a name").batch(Epoch(1), 9).await;
    assert!(matches!(refused, Err(SweepError::Rejected { .. })), "{refused:?}");
}

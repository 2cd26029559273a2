//! Many beats, few commits; and a reader does not wait for writers.

use std::sync::Arc;

use baton_core::protocol::{LeaseIntent, Registration};
use baton_drivers::sqlite::SqliteStore;
use baton_store::{Precondition, Store, StoreError};
use tokio::task::JoinSet;

use crate::beats::{beat, look, namespace};
use crate::file::File;

fn open(file: &File) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(file.config()).expect("the file can be opened"))
}

#[tokio::test]
async fn fifty_namespaces_that_beat_at_once_take_few_commits() {
    let file = File::new();
    let store = open(&file);
    let before = file.commits();
    // While another connection writes, the first beat waits for the file and the others queue up.
    let other = file.connect();
    other.execute_batch("BEGIN IMMEDIATE").expect("no other connection writes");
    let mut beats = JoinSet::new();
    for number in 0..50 {
        let store = Arc::clone(&store);
        beats.spawn(async move {
            let namespace = namespace(&format!("space-{number}"));
            look(&*store, &namespace, number).await.registration
        });
    }
    // On this runtime of one thread, every task has sent its beat once this one goes on.
    tokio::task::yield_now().await;
    other.execute_batch("COMMIT").expect("there was nothing to commit");
    let answers = beats.join_all().await;
    assert_eq!(answers, vec![Registration::Registered; 50]);
    let commits = file.commits() - before;
    assert!((1..=3).contains(&commits), "{commits} commits for 50 beats");
    assert_eq!(file.number("SELECT count(*) FROM baton_nodes"), 50);
}

#[tokio::test]
async fn one_that_errs_does_not_undo_the_others() {
    let file = File::new();
    let store = open(&file);
    let (good, bad) = (namespace("good"), namespace("bad"));
    crate::beats::take(&*store, &bad, 1, baton_core::protocol::Claim::Vacant).await;
    file.corrupt(&bad).expect("the row is there");
    let other = file.connect();
    other.execute_batch("BEGIN IMMEDIATE").expect("no other connection writes");
    let before = file.commits();
    let mut beats = JoinSet::new();
    for space in [&good, &bad, &good, &bad, &good] {
        let (store, space) = (Arc::clone(&store), space.clone());
        beats.spawn(async move {
            let answer = store.beat(&space, beat(7, LeaseIntent::Observe)).await;
            (space, answer)
        });
    }
    tokio::task::yield_now().await;
    other.execute_batch("COMMIT").expect("there was nothing to commit");
    for (space, answer) in beats.join_all().await {
        match answer {
            Ok(reply) => assert_eq!((space, reply.lease), (good.clone(), None)),
            Err(StoreError::Corrupt { record, .. }) => {
                assert_eq!((space, record.as_str()), (bad.clone(), "the lease of namespace bad"));
            }
            Err(error) => unreachable!("{space} got {error}"),
        }
    }
    assert!(file.commits() - before <= 3);
    assert_eq!(file.number("SELECT count(*) FROM baton_nodes WHERE namespace = 'good'"), 1);
    assert_eq!(file.number("SELECT count(*) FROM baton_nodes WHERE namespace = 'bad'"), 1);
}

#[tokio::test]
async fn readers_do_not_wait_for_a_writer_and_writers_give_up_in_time() {
    let file = File::new();
    let store = open(&file);
    let web = namespace("web");
    look(&*store, &web, 1).await;
    let other = file.connect();
    other.execute_batch("BEGIN IMMEDIATE").expect("no other connection writes");
    let commits = file.commits();
    assert_eq!(store.inspect(&web).await.expect("it is free to read").lease, None);
    assert_eq!(store.members(&web).await.expect("it is free to read").len(), 1);
    assert_eq!(store.history(&web, 10).await, Ok(vec![]));
    assert_eq!(store.read_document(&web, "d").await, Ok(None));
    let refused = store.beat(&web, beat(1, LeaseIntent::Observe)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    assert_eq!(file.commits(), commits, "nothing was written");
    other.execute_batch("COMMIT").expect("there was nothing to commit");
    look(&*store, &web, 1).await;
}

#[tokio::test]
async fn a_long_log_is_moved_into_the_database_once_its_writer_has_the_answer() {
    let file = File::new();
    let store = open(&file);
    let namespace = namespace("pages");
    let size = |path| std::fs::metadata(path).expect("the store made it").len();
    // Over and over 256 KiB, each time others: SQLite writes no page that stays as it is. These are
    // 65 pages of the log with each write, and 1,000 are many.
    for round in 0..100 {
        let body = vec![round; 256 << 10];
        let written = store.write_document(&namespace, "page", body, Precondition::Any, None);
        written.await.expect("the file is there");
    }
    let (log, database) = (size(file.beside("-wal")), size(file.path()));
    assert!(log < 8 << 20, "the log of 26 MB of writes has {log} bytes");
    assert!(database > 256 << 10, "the database has {database} bytes");
}

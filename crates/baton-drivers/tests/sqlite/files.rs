//! The file is replaced, removed or moved while it is in use.

use std::fs;

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Outcome};
use baton_drivers::sqlite::SqliteStore;
use baton_store::{Store, StoreError};

use crate::beats::{beat, claim, look, namespace, take};
use crate::file::File;

fn open(file: &File) -> SqliteStore {
    SqliteStore::open(file.config()).expect("the file can be opened")
}

#[tokio::test]
async fn a_handle_that_is_open_notices_another_file_of_that_name() {
    let file = File::new();
    let (store, web) = (open(&file), namespace("web"));
    let first = take(&store, &web, 1, Claim::Vacant).await;
    assert_eq!(first.version.epoch, Epoch(1));
    // While the process had its lock, no claim of its death would hold.
    let dead = first.version.nonce.boot;
    let node = first.holder.expect("it is held").node;
    store.leave(&web, &node, dead).await.expect("the store answers");
    file.keep_copy().expect("there is room");
    for term in 1..=3 {
        file.restore_copy().expect("there is room");
        let seen = look(&store, &web, 2).await;
        assert_eq!(seen.lineage.0, first.lineage.0 + term, "each time another one");
        let reply = claim(&store, &web, 2, Claim::Dead { boot: dead }).await;
        assert_eq!(reply.outcome, Some(Outcome::Applied));
        let epoch = reply.lease.expect("it was granted").version.epoch;
        assert_eq!(epoch, Epoch(2 + term * Epoch::LEAP));
    }
}

/// A file system likes to give a new file the number of the one that was just removed.
#[tokio::test]
async fn a_copy_in_the_place_of_a_file_that_was_removed_is_noticed() {
    let file = File::new();
    let web = namespace("web");
    let mut last = look(&open(&file), &web, 1).await.lineage;
    file.keep_copy().expect("there is room");
    for _ in 0..5 {
        for suffix in ["", "-wal", "-shm"] {
            // The last one to close the file may have taken its log away.
            let _ = fs::remove_file(file.beside(suffix));
        }
        fs::copy(file.folder().join("kept.db"), file.path()).expect("there is room");
        let lineage = look(&open(&file), &web, 1).await.lineage;
        assert!(lineage > last, "{lineage:?} after {last:?}");
        last = lineage;
    }
}

#[tokio::test]
async fn a_file_that_is_gone_is_missed_until_it_is_back() {
    let file = File::new();
    let (store, web) = (open(&file), namespace("web"));
    let before = look(&store, &web, 1).await;
    let away = file.folder().join("elsewhere.db");
    fs::rename(file.path(), &away).expect("they are on one disk");
    let missed = store.beat(&web, beat(1, baton_core::protocol::LeaseIntent::Observe)).await;
    let Err(StoreError::Unavailable { detail }) = missed else {
        unreachable!("a beat into no file gave {missed:?}");
    };
    let path = file.path();
    assert!(detail.starts_with(&format!("{} is not there", path.display())), "{detail}");
    assert!(!path.exists(), "no other process makes it anew");
    fs::rename(&away, &path).expect("they are on one disk");
    assert_eq!(look(&store, &web, 1).await.lineage, before.lineage, "it is the same file");
}

#[tokio::test]
async fn the_log_of_the_file_before_is_not_mixed_into_a_copy() {
    let file = File::new();
    let (store, web) = (open(&file), namespace("web"));
    take(&store, &web, 1, Claim::Vacant).await;
    file.keep_copy().expect("there is room");
    take(&store, &namespace("api"), 1, Claim::Vacant).await;
    let copy = file.folder().join("kept.db");
    fs::rename(copy, file.path()).expect("they are on one disk");
    let refused = store.inspect(&web).await;
    let Err(StoreError::Refused { detail }) = refused else {
        unreachable!("a stale log gave {refused:?}");
    };
    assert!(detail.contains("baton.db-wal belongs to the previous file"), "{detail}");
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(file.beside(suffix)).expect("it was in use");
    }
    let found = store.inspect(&web).await.expect("the copy stands alone now");
    assert_eq!(found.lease.map(|lease| lease.version.epoch), Some(Epoch(1)));
}

#[tokio::test]
async fn content_that_went_back_in_place_is_noticed_by_its_lineage() {
    let file = File::new();
    let (store, web) = (open(&file), namespace("web"));
    let before = look(&store, &web, 1).await.lineage;
    file.sql("UPDATE baton_meta SET lineage = lineage - 5").expect("it is one row");
    assert_eq!(look(&store, &web, 1).await.lineage.0, before.0 + 1);
    assert_eq!(look(&open(&file), &web, 1).await.lineage.0, before.0 + 1);
}

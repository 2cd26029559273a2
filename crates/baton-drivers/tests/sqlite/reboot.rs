//! The machine was booted again: simulated by records that say so.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Expiry, Outcome, Registration, TermEnd};
use baton_drivers::sqlite::SqliteStore;
use baton_store::Store;

use crate::beats::{beat, claim, look, namespace, take};
use crate::file::File;

/// Every record is of an earlier boot of the machine.
fn reboot(file: &File) {
    file.sql(
        "UPDATE baton_meta SET machine = 'earlier', lineage = lineage - 60;
         UPDATE baton_locks SET machine = 'earlier', granted_in = granted_in - 60;
         UPDATE baton_nodes SET machine = 'earlier';",
    )
    .expect("the tables are there");
    std::fs::remove_file(file.beside("-boots").join("lineage")).expect("it was noted");
}

#[tokio::test]
async fn leases_are_over_ids_are_free_and_epochs_leap() {
    let file = File::new();
    let web = namespace("web");
    let store = SqliteStore::open(file.config()).expect("the file can be opened");
    let before = take(&store, &web, 1, Claim::Vacant).await;
    drop(store);
    reboot(&file);

    let store = SqliteStore::open(file.config()).expect("the file can be opened");
    let seen = store.inspect(&web).await.expect("it can be read");
    // The lineage is the minute in which it began: an hour later, or a little more.
    let (lineage, long_ago) = (seen.lineage.0, before.lineage.0 - 60);
    assert!((long_ago + 60..=long_ago + 62).contains(&lineage), "{lineage} after {long_ago}");
    let lease = seen.lease.expect("it was granted");
    assert_eq!(lease.expiry, Expiry::Left(Duration::ZERO));
    let members = store.members(&web).await.expect("it can be read");
    let silent_for = members[0].silent_for.expect("ages are declared");
    assert!(silent_for > Duration::from_secs(86_400), "{silent_for:?}");

    let mut namesake = beat(9, baton_core::protocol::LeaseIntent::Observe);
    namesake.node.id = members[0].record.id.clone();
    let reply = store.beat(&web, namesake).await.expect("the store answers");
    assert_eq!(reply.registration, Registration::Registered);

    let reply = claim(&store, &web, 2, Claim::Expired).await;
    assert_eq!(reply.outcome, Some(Outcome::Applied));
    let epoch = reply.lease.expect("it was granted").version.epoch;
    assert_eq!(epoch, Epoch(2 + (lineage - long_ago) * Epoch::LEAP));
    let terms = store.history(&web, 2).await.expect("it can be read");
    assert_eq!(terms[1].ended.map(|(_, end)| end), Some(TermEnd::Expired));
}

#[tokio::test]
async fn nothing_leaps_when_the_file_is_merely_opened_again() {
    let file = File::new();
    let mut lineages = Vec::new();
    for boot in 1..=3 {
        let store = SqliteStore::open(file.config()).expect("the file can be opened");
        lineages.push(look(&store, &namespace("web"), boot).await.lineage);
    }
    lineages.dedup();
    assert_eq!(lineages.len(), 1);
}

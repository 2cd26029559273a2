//! A snapshot of the disk, put back without recovery: same system, same timeline.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::Store;
use baton_testbed::restored::{self, Fresh, Restorable};
use baton_testbed::subject::Fixture;

use crate::fixture::Postgres;

/// The server, and whether others write so much after a restore that the log is no longer behind.
struct Snapshots {
    fixture: Postgres,
    others_write: bool,
}

#[async_trait]
impl Restorable for Snapshots {
    async fn open(&self) -> Arc<dyn Store> {
        self.fixture.open().await
    }

    async fn keep(&self, _namespace: &Namespace) {
        let copy = self.fixture.data().with_file_name("copy");
        self.fixture.snapshot(&copy).expect("there is room");
    }

    async fn put_back(&self, _namespace: &Namespace) {
        let copy = self.fixture.data().with_file_name("copy");
        self.fixture.put_back(&copy).await.expect("there is room");
        self.fixture.server.start_again().await.expect("it recovers");
        if self.others_write {
            let rows = "SELECT generate_series(1, 100000) AS number";
            self.fixture.sql("DROP TABLE IF EXISTS bulk").await;
            self.fixture.sql(&format!("CREATE TABLE bulk AS {rows}")).await;
        }
    }

    async fn restart(&self) {
        assert_eq!(self.fixture.restart().await, Ok(true));
    }
}

#[tokio::test]
async fn a_snapshot_of_the_disk_is_noticed_by_nodes_that_saw_more() {
    let store = Snapshots { fixture: Postgres::start().await, others_write: false };
    restored::nodes_that_remember(&store).await;
    restored::lost_renewals(&store).await;
    assert_eq!(restored::nodes_that_do_not(&store).await, Fresh::CannotTell);
    restored::a_restart(&store).await;
}

#[tokio::test]
async fn a_snapshot_is_noticed_though_others_have_written_more_than_was_lost() {
    let store = Snapshots { fixture: Postgres::start().await, others_write: true };
    restored::nodes_that_remember(&store).await;
    restored::lost_renewals(&store).await;
    assert_eq!(restored::nodes_that_do_not(&store).await, Fresh::CannotTell);
}

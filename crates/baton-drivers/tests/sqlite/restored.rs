//! An older copy of the file: put there as the documentation says, or written into the same file.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_drivers::sqlite::SqliteStore;
use baton_store::Store;
use baton_testbed::restored::{self, Fresh, Restorable};

use crate::file::File;

/// The file, and whether the copy's content is written into it instead of replacing it.
struct Copies {
    file: File,
    in_place: bool,
}

impl Copies {
    /// What a tool does that restores into an open database: every table, in one transaction.
    fn write_content(&self) {
        let conn = self.file.connect();
        let kept = self.file.folder().join("kept.db");
        let attach = format!("ATTACH '{}' AS kept", kept.display());
        conn.execute_batch(&attach).expect("it is a database");
        let sql = "SELECT name FROM kept.sqlite_schema WHERE type = 'table'";
        let mut statement = conn.prepare(sql).expect("it is sound");
        let names = statement.query_map([], |row| row.get::<_, String>(0)).expect("it is sound");
        let restore = names.map(|name| {
            let name = name.expect("it is text");
            format!("DELETE FROM main.{name}; INSERT INTO main.{name} SELECT * FROM kept.{name};")
        });
        let restore: String = restore.collect();
        conn.execute_batch(&format!("BEGIN IMMEDIATE; {restore} COMMIT")).expect("it fits");
    }
}

#[async_trait]
impl Restorable for Copies {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.file.config()).expect("it can be opened"))
    }

    async fn keep(&self, _namespace: &Namespace) {
        self.file.keep_copy().expect("there is room");
    }

    async fn put_back(&self, _namespace: &Namespace) {
        match self.in_place {
            true => self.write_content(),
            false => self.file.restore_copy().expect("there is room"),
        }
    }

    /// There is no server: the next handle is all there is.
    async fn restart(&self) {}
}

#[tokio::test]
async fn a_copy_in_place_of_the_file_is_noticed_by_every_node() {
    let store = Copies { file: File::new(), in_place: false };
    restored::nodes_that_remember(&store).await;
    restored::lost_renewals(&store).await;
    assert_eq!(restored::nodes_that_do_not(&store).await, Fresh::Notices);
    restored::a_restart(&store).await;
}

#[tokio::test]
async fn older_content_in_the_same_file_is_noticed_by_nodes_that_saw_more() {
    let store = Copies { file: File::new(), in_place: true };
    restored::nodes_that_remember(&store).await;
    restored::lost_renewals(&store).await;
    assert_eq!(restored::nodes_that_do_not(&store).await, Fresh::CannotTell);
}

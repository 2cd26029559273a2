//! A store that an earlier version wrote is opened by this one, and nothing is lost.

use std::sync::Arc;

use baton_drivers::{fences, open};
use baton_store::Store;
use baton_testbed::subject::Fixture;
use baton_testbed::written_before::{self, LAST, RESOURCE, space};
use rusqlite::Connection;

use crate::file::File;

async fn opened(file: &File) -> Arc<dyn Store> {
    open(&file.url()).await.expect("it can be opened")
}

#[tokio::test]
async fn a_store_of_an_earlier_version_loses_nothing() {
    let file = File::new();
    file.sql(include_str!("../fixtures/sqlite.sql")).expect("it is SQL");
    written_before::check(&opened(&file).await).await;

    let app = file.folder().join("app.db");
    let conn = Connection::open(&app).expect("the folder is ours");
    conn.execute_batch(include_str!("../fixtures/sqlite-fences.sql")).expect("it is SQL");
    let stored = fences::list(&format!("sqlite://{}", app.display()), &space()).await;
    let stored = stored.expect("it can be read");
    let stored: Vec<_> = stored.iter().map(|it| (it.resource.as_str(), it.epoch)).collect();
    assert_eq!(stored, [(RESOURCE, LAST)]);
}

/// The fixture holds what `fill` writes, and today's version writes no less.
#[tokio::test]
async fn a_store_of_this_version_passes_the_same_check() {
    let file = File::new();
    let store = opened(&file).await;
    written_before::fill(&store).await;
    written_before::check(&store).await;
}

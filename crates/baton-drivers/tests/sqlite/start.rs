//! Many processes start at once on a file that is not there yet.

use std::sync::Arc;

use baton_core::protocol::{Claim, Outcome};
use baton_drivers::sqlite::SqliteStore;
use baton_store::wrap::Wrapped;
use baton_testbed::peer::{Process, Remote, Start};
use baton_testbed::subject::Fixture;
use tokio::task::JoinSet;

use crate::beats::{claim, namespace};
use crate::file::File;

const PROCESSES: u128 = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_processes_make_one_file_of_one_schema_and_one_lineage() {
    for _ in 0..5 {
        let file = Arc::new(File::new());
        let mut starts = JoinSet::new();
        for boot in 1..=PROCESSES {
            let file = Arc::clone(&file);
            starts.spawn(async move {
                let process = Process::start(&file.url(), Start::default()).await;
                let process = Arc::new(process.expect("each of them gets its turn"));
                let here = SqliteStore::open(file.config()).expect("each of them gets its turn");
                let store = Wrapped::new(Arc::new(here), Remote(process));
                claim(&store, &namespace("web"), boot, Claim::Vacant).await
            });
        }
        let replies = starts.join_all().await;
        let won = replies.iter().filter(|reply| reply.outcome == Some(Outcome::Applied));
        assert_eq!(won.count(), 1);
        let lineage = replies[0].lineage;
        assert!(replies.iter().all(|reply| reply.lineage == lineage), "{replies:?}");
        assert_eq!(file.number("PRAGMA user_version"), 4);
        assert_eq!(file.number("SELECT count(*) FROM baton_meta"), 1);
    }
}

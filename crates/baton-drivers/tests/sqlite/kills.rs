//! Processes killed in the middle of writing: what was acknowledged is there.

use baton_core::rng::Rng;
use baton_drivers::sqlite::SqliteStore;
use baton_store::{Answer, BatchOutcome, Call, Document, DocumentWrite, Precondition, Store};
use baton_testbed::peer::{Process, Start};
use baton_testbed::subject::Fixture;

use crate::beats::namespace;
use crate::file::File;

const KILLS: usize = 30;

/// The writes before a kill, and those that wait in the pipe of the process when it is killed.
const WRITES: u64 = 50;
const WAITING: u64 = 10;

/// A write of the counter's next value. Its body says the version that it should get.
fn count(version: u64) -> Call {
    let write = DocumentWrite {
        name: "counter".to_owned(),
        body: version.to_string().repeat(300).into_bytes(),
        precondition: match version {
            1 => Precondition::Absent,
            version => Precondition::Version(version - 1),
        },
    };
    Call::WriteDocuments { writes: vec![write], fence: None }
}

#[tokio::test]
async fn no_kill_loses_what_was_acknowledged_or_leaves_half_of_a_write() {
    let (file, web) = (File::new(), namespace("web"));
    let mut rng = Rng::new(7);
    let mut stored = 0;
    for kill in 0..KILLS {
        let process = Process::start(&file.url(), Start::default()).await.expect("it opens");
        let mut acknowledged = stored;
        for _ in 0..rng.below(WRITES) {
            let answer = process.call(&web, count(acknowledged + 1)).await;
            acknowledged += 1;
            assert_eq!(answer, Ok(Answer::Written(BatchOutcome::Written(vec![acknowledged]))));
        }
        // Sent and not waited for, so that it is always in the middle of one.
        for version in 1..=WAITING {
            tokio::select! {
                biased;
                _ = process.call(&web, count(acknowledged + version)) => {}
                () = std::future::ready(()) => {}
            }
        }
        process.kill().await;
        let store = SqliteStore::open(file.config()).expect("a kill leaves a file that opens");
        let found = store.read_document(&web, "counter").await;
        let found = found.expect("it can be read").unwrap_or(Document { version: 0, body: vec![] });
        assert!(found.version >= acknowledged, "kill {kill} lost {acknowledged}");
        stored = found.version;
        if stored > 0 {
            assert_eq!(found.body, stored.to_string().repeat(300).into_bytes(), "kill {kill}");
        }
    }
    let check = file.connect().query_row("PRAGMA integrity_check", [], |row| row.get(0));
    assert_eq!(check, Ok("ok".to_owned()));
    assert!(stored > 0, "at least one write took place between {KILLS} kills");
}

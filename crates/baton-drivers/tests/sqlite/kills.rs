//! Processes killed in the middle of writing: what was acknowledged is there.

use baton_core::rng::Rng;
use baton_drivers::sqlite::SqliteStore;
use baton_store::{Answer, Call, Document, Precondition, Store, WriteOutcome};

use crate::beats::namespace;
use crate::file::File;
use crate::peer::{Order, Process, Said, Start};

const KILLS: usize = 30;
const WRITES: u64 = 200;

/// A write of the counter's next value. Its body says the version that it should get.
fn count(version: u64) -> Order {
    let call = Call::WriteDocument {
        name: "counter".to_owned(),
        body: version.to_string().repeat(300).into_bytes(),
        precondition: match version {
            1 => Precondition::Absent,
            version => Precondition::Version(version - 1),
        },
        fence: None,
    };
    Order::Call(namespace("web"), Box::new(call))
}

#[tokio::test]
async fn no_kill_loses_what_was_acknowledged_or_leaves_half_of_a_write() {
    let file = File::new();
    let mut rng = Rng::new(7);
    let mut stored = 0;
    for kill in 0..KILLS {
        let process = Process::start(&file.path(), Start::default()).await.expect("it opens");
        // The orders wait in its pipe, so that it is always in the middle of one.
        for version in 1..=WRITES / 4 {
            process.tell(&count(stored + version)).await.expect("it listens");
        }
        let mut acknowledged = stored;
        for _ in 0..rng.below(WRITES / 4) {
            let said = process.hear().await.expect("it has orders left");
            let Said::Answer(answer) = said else { unreachable!("it said {said:?}") };
            acknowledged += 1;
            assert_eq!(*answer, Ok(Answer::Written(WriteOutcome::Written(acknowledged))));
        }
        process.kill().await;
        let store = SqliteStore::open(file.config()).expect("a kill leaves a file that opens");
        let found = store.read_document(&namespace("web"), "counter").await;
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

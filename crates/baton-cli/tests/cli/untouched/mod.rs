//! Reading commands change nothing: each store is as it was before, whatever was in it.

mod content;

use baton_core::protocol::Claim;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Capability, Precondition};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::counting::count_once;
use baton_testbed::{Kind, Server};

use super::support::{LOOK_EVERY, PATIENCE, Said, Sandbox};
pub(super) use content::run_sql;
use content::{content, keep_versions};

/// Every command that only looks.
const READS: [&[&str]; 16] = [
    &["status"],
    &["health"],
    &["history"],
    &["namespaces"],
    &["plugins"],
    &["watch", "--for", "10ms"],
    &["settings"],
    &["schedules", "list"],
    &["schedules", "history"],
    &["tasklists", "list"],
    &["partitions", "status"],
    &["partitions", "explain"],
    &["partitions", "plan", "--add", "x"],
    &["counters", "list"],
    &["counters", "get", "hits"],
    &["fences", "list"],
];

/// A store, and the binary beside it.
struct Fixture {
    here: Sandbox,
    server: Option<Server>,
}

impl Fixture {
    /// A server, or a file that has nothing in it.
    async fn new(kind: Option<Kind>) -> Self {
        let server = match kind {
            Some(kind) => Some(Server::start(kind).await.expect("it can be started here")),
            None => None,
        };
        if let Some(server) = server.as_ref().filter(|it| it.kind() == Kind::Ministack) {
            keep_versions(server);
        }
        let here = Sandbox::new();
        std::fs::create_dir(here.path("data")).expect("there is room for tests");
        here.write("data/baton.db", "");
        Self { here, server }
    }

    fn url(&self) -> String {
        match &self.server {
            Some(server) => server.url(),
            None => format!("sqlite://{}", self.here.path("data/baton.db").display()),
        }
    }

    async fn content(&self) -> String {
        content(self.server.as_ref(), &self.here.path("data")).await
    }

    /// What each of the reading commands says of a namespace.
    fn read(&self, url: &str, namespace: &str) -> Vec<Said> {
        let read = |arguments: &&[&str]| {
            let place = ["--store", url, "--namespace", namespace];
            self.here.baton(&[arguments, &place[..]].concat())
        };
        READS.iter().map(read).collect()
    }

    /// Something of every kind.
    async fn fill(&self) {
        let store = baton_drivers::open(&self.url()).await.expect("it can be made");
        let web = namespace("web");
        let held = Contender::new(&store, &web, 1).take(Claim::Vacant).await;
        let body = b"{}".to_vec();
        let wrote = store.write_document(&web, "d", body, Precondition::Any, Some(held.epoch));
        wrote.await.expect("it leads");
        if store.declaration().capabilities.contains(&Capability::Counters) {
            count_once(&*store, &web, held.epoch).await;
        }
        drop(store);
        // The last connection to close the file empties its log, on a thread of its own.
        let log = self.here.path("data/baton.db-wal");
        let is_closed =
            || self.server.is_some() || std::fs::metadata(&log).is_ok_and(|log| log.len() == 0);
        let gives_up_at = SystemClock.now() + PATIENCE;
        while !is_closed() {
            assert!(SystemClock.now() < gives_up_at, "the file is not closed");
            SystemClock.sleep(LOOK_EVERY).await;
        }
    }
}

fn codes(said: &[Said]) -> Vec<Option<i32>> {
    said.iter().map(|said| said.code).collect()
}

async fn assert_reading_changes_nothing(kind: Option<Kind>) {
    let fixture = Fixture::new(kind).await;
    let (url, empty) = (fixture.url(), fixture.content().await);
    let of_nothing = fixture.read(&url, "other");
    assert_eq!(fixture.content().await, empty, "{of_nothing:?}");

    fixture.fill().await;
    let full = fixture.content().await;
    assert_ne!(full, empty, "there is something to be changed");
    let of_web = fixture.read(&url, "web");
    assert!(of_web[0].out.contains("epoch 1"), "{of_web:?}");
    assert!(of_web[2].out.contains("node-1"), "{of_web:?}");
    let of_other = fixture.read(&url, "other");
    assert_eq!(fixture.content().await, full, "{of_web:?}");

    // A store without anything of baton's is told as a namespace that was never used is.
    assert_eq!(codes(&of_nothing), codes(&of_other), "{of_nothing:?}\n{of_other:?}");
    for at in [0, 2] {
        assert_eq!(of_nothing[at].out, of_other[at].out, "{:?}", READS[at]);
    }
    assert_eq!(of_nothing[3].out, "the store has no namespaces yet\n");
    assert_eq!((&*of_web[3].out, &*of_other[3].out), ("web\n", "web\n"));
    assert_eq!(codes(&of_nothing)[..4], [Some(0), Some(1), Some(0), Some(0)], "{of_nothing:?}");
}

#[tokio::test]
async fn reading_a_file_changes_nothing() {
    assert_reading_changes_nothing(None).await;
}

#[tokio::test]
async fn reading_postgres_changes_nothing() {
    assert_reading_changes_nothing(Some(Kind::Postgres)).await;
}

#[tokio::test]
async fn reading_mysql_changes_nothing() {
    assert_reading_changes_nothing(Some(Kind::Mariadb)).await;
}

#[tokio::test]
async fn reading_redis_changes_nothing() {
    assert_reading_changes_nothing(Some(Kind::Redis)).await;
}

#[tokio::test]
async fn reading_etcd_changes_nothing() {
    assert_reading_changes_nothing(Some(Kind::Etcd)).await;
}

#[tokio::test]
async fn reading_s3_changes_nothing() {
    assert_reading_changes_nothing(Some(Kind::Ministack)).await;
}

/// The right to read is enough, and an older schema is left as it is.
async fn assert_reading_is_enough(kind: Kind, grants: &[&str], older: &str) {
    let fixture = Fixture::new(Some(kind)).await;
    let server = fixture.server.as_ref().expect("it was started");
    fixture.fill().await;
    for grant in grants {
        run_sql(server, grant).await;
    }
    let login = if kind == Kind::Postgres { "postgres@" } else { "root@" };
    let url = fixture.url().replacen(login, "looker@", 1);
    let said = fixture.read(&url, "web");
    assert!(said[0].out.contains("epoch 1"), "{said:?}");
    let fine = said.iter().all(|said| !matches!(said.code, Some(2 | 3) | None));
    assert!(fine, "{said:?}");

    run_sql(server, older).await;
    let before = fixture.content().await;
    let said = fixture.here.baton(&["status", "--store", &fixture.url()]);
    said.assert_refused(3, "has schema version 1, and this program reads");
    assert_eq!(fixture.content().await, before);
}

#[tokio::test]
async fn the_right_to_read_is_enough_on_postgres() {
    let grants = [
        "CREATE ROLE looker LOGIN; ALTER ROLE looker SET default_transaction_read_only = on",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker",
        "REVOKE EXECUTE ON FUNCTION baton_inspect, baton_settle, baton_identity FROM PUBLIC",
    ];
    assert_reading_is_enough(Kind::Postgres, &grants, "UPDATE baton_meta SET schema_version = 1")
        .await;
}

#[tokio::test]
async fn the_right_to_read_is_enough_on_mysql() {
    let grants = ["CREATE USER looker", "GRANT SELECT ON baton.* TO looker"];
    assert_reading_is_enough(Kind::Mariadb, &grants, "UPDATE baton_meta SET schema_version = 1")
        .await;
}

#[test]
fn a_file_that_is_older_or_may_only_be_read_is_left_as_it_is() {
    let here = Sandbox::new();
    let mut a = here.serve("a", &[]);
    here.until_led_by("a");
    a.signal(rustix::process::Signal::TERM);
    assert_eq!(a.ended(), Some(0));

    // A copy has no log beside it.
    let copy = here.path("copy");
    std::fs::create_dir(&copy).expect("there is room for tests");
    let database = rusqlite::Connection::open(here.database()).expect("it is there");
    let file = copy.join("a b#%.db");
    let backup = database.execute("VACUUM INTO ?1", [file.to_str().expect("it is UTF-8")]);
    backup.expect("there is room for tests");
    let url = format!("sqlite://{}", file.display());
    let said = here.baton(&["history", "--store", &url]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("shut down"), "{said:?}");
    let names = std::fs::read_dir(&copy).map(Iterator::count);
    assert_eq!(names.ok(), Some(1), "nothing was made beside it");

    database.pragma_update(None, "user_version", 1).expect("it can be written");
    drop(database);
    let said = here.baton(&["status"]);
    said.assert_refused(3, "has schema version 1, and this program reads");
}

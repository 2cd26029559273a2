//! `fences`: a service that moved to another namespace is refused by its fences, is told what to
//! do, and writes again once a person has reset them.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::Output;
use std::time::Duration;

use baton_core::ids::Epoch;
use baton_drivers::etcd;
use baton_drivers::s3;
use baton_drivers::sweep::{self, Keys, Objects, Strategy, Table, Target};
use baton_testbed::contender::namespace;
use baton_testbed::{Kind, Server};
use rusqlite::Connection;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use super::support::Sandbox;
use super::untouched::run_sql;

/// The old namespace has got to epoch 4; the new one begins with 1. `write` writes in an epoch.
async fn assert_reset(url: &str, resource: &str, write: impl AsyncFn(u64) -> Result<(), String>) {
    let here = Sandbox::new();
    let list = |more: &[&str]| here.baton(&[&["fences", "list", "--store", url], more].concat());
    let reset = |more: &[&str]| {
        here.baton(&[&["fences", "reset", resource, "--store", url], more].concat())
    };
    let listed = || -> Vec<(String, u64)> {
        let lines = list(&["--json"]).json();
        let lines = lines.as_array().expect("a list").iter();
        let line =
            |line: &Value| Some((line["resource"].as_str()?.to_owned(), line["epoch"].as_u64()?));
        lines.map(|it| line(it).expect("a name and a number")).collect()
    };
    let store = baton_drivers::shown(url);
    assert_eq!(list(&[]).out, format!("there are no fences at {store}\n"));
    reset(&["--yes"]).assert_refused(1, &format!("there is no fence {resource} at {store}; "));

    assert_eq!(write(4).await, Ok(()));
    let refused = write(1).await.expect_err("4 was here");
    assert!(refused.starts_with("epoch 1 is behind 4, which was admitted to "), "{refused}");
    assert!(refused.contains(&format!("`baton fences reset {resource}`")), "{refused}");
    assert_eq!(listed(), [(resource.to_owned(), 4)]);
    let said = list(&[]);
    let words: Vec<&str> = said.out.split_whitespace().collect();
    assert_eq!(words, ["FENCE", "EPOCH", resource, "4"], "{said:?}");

    let wanted = format!("resetting fence {resource} must be confirmed, and stdin is not a ");
    reset(&[]).assert_refused(2, &wanted);
    assert_eq!(write(1).await, Err(refused), "nothing was reset");
    let said = reset(&["--yes"]);
    let wanted = format!("fence {resource} is reset; the highest epoch was 4\n");
    assert_eq!((said.code, said.out, said.err.as_str()), (Some(0), wanted, ""));
    assert_eq!(write(1).await, Ok(()));
    assert_eq!(listed(), [(resource.to_owned(), 1)]);
}

/// Sweeps a target, as `baton serve` does for a `[[ttl]]` table.
async fn swept(url: &str, target: Target, epoch: u64) -> Result<(), String> {
    let sweep = sweep::open(url, target, Strategy::Delete).expect("it is sound");
    let done = sweep.batch(Epoch(epoch), 10).await;
    done.map(drop).map_err(|refused| refused.to_string())
}

async fn server(kind: Kind) -> Server {
    Server::start(kind).await.expect("it can be started here")
}

/// A database of the user's own, with a table of things.
fn file(here: &Sandbox) -> String {
    let path = here.path("app.db");
    let conn = Connection::open(&path).expect("the sandbox can be written to");
    let make = "CREATE TABLE things (id INTEGER PRIMARY KEY, expires_at TEXT)";
    conn.execute_batch(make).expect("the file is ours");
    format!("sqlite://{}", path.display())
}

#[tokio::test]
async fn a_fence_in_a_file_is_listed_and_reset() {
    let here = Sandbox::new();
    let url = file(&here);
    let write = async |epoch| swept(&url, Table::new("things").into(), epoch).await;
    assert_reset(&url, "ttl:things", write).await;
    let nowhere = here.path("none.db");
    let said =
        here.baton(&["fences", "list", "--store", &format!("sqlite://{}", nowhere.display())]);
    said.assert_refused(3, "there is no database at ");
    let said = here.baton(&["fences", "list", "--store", "memory://"]);
    said.assert_refused(2, "memory:// holds no fences; name the store that your data is in");
}

#[tokio::test]
async fn a_fence_in_postgres_is_listed_and_reset() {
    let server = server(Kind::Postgres).await;
    run_sql(&server, "CREATE TABLE things (id bigint PRIMARY KEY, expires_at timestamptz)").await;
    let url = server.url();
    let write = async |epoch| swept(&url, Table::new("things").into(), epoch).await;
    assert_reset(&url, "ttl:things", write).await;
}

#[tokio::test]
async fn a_fence_in_mysql_is_listed_and_reset() {
    let server = server(Kind::Mariadb).await;
    run_sql(&server, "CREATE TABLE things (id BIGINT PRIMARY KEY, expires_at DATETIME)").await;
    let url = server.url();
    let write = async |epoch| swept(&url, Table::new("things").into(), epoch).await;
    assert_reset(&url, "ttl:things", write).await;
}

#[tokio::test]
async fn a_fence_in_redis_is_listed_and_reset() {
    let server = server(Kind::Redis).await;
    let url = format!("{}?prefix=shop[1]:", server.url());
    let write = async |epoch| swept(&url, Keys::by_index("expiries").into(), epoch).await;
    assert_reset(&url, "ttl:expiries", write).await;
}

#[tokio::test]
async fn a_fence_in_s3_is_listed_and_reset() {
    let server = server(Kind::Ministack).await;
    let url = server.url();
    let old = || Objects::under("tmp/old/", Duration::from_secs(3_600));
    let write = async |epoch| swept(&url, old().into(), epoch).await;
    assert_reset(&url, "test/fences/ttl:tmp/old", write).await;

    // An object of one's own is its own fence.
    let here = Sandbox::new();
    let objects = s3::client(&url).expect("it is sound");
    let fence = s3::fence::Fence::new("report.json");
    let body = |mark: &str| mark.as_bytes().to_vec();
    fence.put(&*objects, Epoch(4), body).await.expect("it is the first");
    fence.put(&*objects, Epoch(1), body).await.expect_err("4 was here");
    let said = here.baton(&["fences", "reset", "report.json", "--store", &url, "--yes"]);
    assert_eq!(said.out, "fence report.json is reset; the highest epoch was 4\n", "{said:?}");
    fence.put(&*objects, Epoch(1), body).await.expect("it was reset");
}

#[tokio::test]
async fn a_fence_in_etcd_is_listed_and_reset() {
    let server = server(Kind::Etcd).await;
    let (url, default) = (server.url(), namespace("default"));
    let fence = etcd::fence::Fence::open(&url, &default, "invoices").await;
    let fence = fence.expect("it answers");
    let write = async |epoch| {
        let done = fence.put(Epoch(epoch), "shop/next", b"1").await;
        done.map_err(|refused| refused.to_string())
    };
    assert_reset(&url, "invoices", write).await;
}

/// A terminal's two ends, and what is typed there.
fn typed(text: &str) -> (OwnedFd, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are terminals");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let name = name.to_str().expect("a plain name");
    let screen = File::options().read(true).write(true).open(name).expect("it is ours");
    rustix::io::write(&master, text.as_bytes()).expect("the line fits");
    (master, screen)
}

#[tokio::test]
async fn a_person_is_asked_and_may_say_no() {
    let here = Sandbox::new();
    let url = file(&here);
    swept(&url, Table::new("things").into(), 4).await.expect("it is the first");
    let reset = |answer: &str| -> Output {
        let (_keyboard, screen) = typed(answer);
        let mut command = here.command(&["fences", "reset", "ttl:things", "--store", &url]);
        command.stdin(screen).output().expect("the program is there")
    };
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    for no in ["\n", "n\n", "reset\n"] {
        let asked = reset(no);
        assert_eq!(asked.status.code(), Some(1), "{}", said(&asked));
        assert!(said(&asked).contains("Reset fence ttl:things at sqlite://"), "{}", said(&asked));
        assert!(said(&asked).contains("nothing was reset"), "{}", said(&asked));
    }
    swept(&url, Table::new("things").into(), 1).await.expect_err("4 was here");
    assert_eq!(reset("y\n").status.code(), Some(0));
    swept(&url, Table::new("things").into(), 1).await.expect("it was reset");
}

//! The fences of each store, on a server of the test's own: a late write is refused.

use std::process::Command;

use baton_testbed::{Kind, Server};

use super::{built, lines};

/// Two terms write, and the first is refused afterwards.
fn assert_refuses_the_late(said: &[String]) {
    assert_eq!(said[..2], ["epoch 1: written", "epoch 2: written"], "{said:?}");
    assert!(said[2].starts_with("epoch 1 is behind 2"), "{said:?}");
}

async fn said_on(kind: Kind, example: &str) -> Vec<String> {
    let server = Server::start(kind).await.expect("it can be started here");
    let ran = Command::new(built(example)).arg(server.url()).output();
    let ran = ran.expect("`cargo test -p baton` builds it");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    said.lines().map(str::to_owned).collect()
}

#[test]
fn of_the_embedded_store() {
    assert_refuses_the_late(&lines("fenced_sqlite"));
}

#[tokio::test]
async fn of_postgresql() {
    assert_refuses_the_late(&said_on(Kind::Postgres, "fenced_postgres").await);
}

#[tokio::test]
async fn of_mysql() {
    assert_refuses_the_late(&said_on(Kind::Mariadb, "fenced_mysql").await);
}

#[tokio::test]
async fn of_redis() {
    assert_refuses_the_late(&said_on(Kind::Redis, "fenced_redis").await);
}

#[tokio::test]
async fn of_etcd() {
    assert_refuses_the_late(&said_on(Kind::Etcd, "fenced_etcd").await);
}

#[tokio::test]
async fn of_s3() {
    assert_refuses_the_late(&said_on(Kind::Ministack, "fenced_s3").await);
}

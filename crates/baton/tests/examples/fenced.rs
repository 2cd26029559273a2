//! Fenced writes of the user's own data, with a client of the user's own: it takes the store's URL,
//! options and all, through `client_url`.

use baton_testbed::{Kind, Server};

use super::lines_with;

/// Two terms write, and the first is refused when it comes back.
const SAID: [&str; 3] = [
    "epoch 1: written",
    "epoch 2: written",
    "epoch 1 is behind 2, which was admitted to invoices; its term is over (if epochs began anew, \
     in another namespace or a new store: `baton fences reset invoices`)",
];

#[tokio::test]
async fn the_url_of_postgres_has_options() {
    let server = Server::start(Kind::Postgres).await.expect("postgres can be started here");
    let options = "timeout_ms=2000&tls=off&application_name=shop";
    assert_eq!(lines_with("fenced_postgres", &format!("{}?{options}", server.url())), SAID);
}

#[tokio::test]
async fn the_url_of_mysql_has_options() {
    let server = Server::start(Kind::Mariadb).await.expect("mariadb can be started here");
    assert_eq!(lines_with("fenced_mysql", &format!("{}?timeout_ms=2000", server.url())), SAID);
}

#[tokio::test]
async fn the_url_of_redis_has_options() {
    let server = Server::start(Kind::Redis).await.expect("redis can be started here");
    let url = format!("{}?timeout_ms=2000&prefix=shop:", server.url());
    assert_eq!(lines_with("fenced_redis", &url), SAID);
}

#[test]
fn the_url_of_a_file_has_options() {
    let folder = tempfile::tempdir().expect("there is room");
    let url = format!("sqlite://{}?busy_timeout_ms=2000", folder.path().join("a.db").display());
    assert_eq!(lines_with("fenced_sqlite", &url), SAID);
}

#[tokio::test]
async fn etcd_has_keys_behind_a_fence() {
    let server = Server::start(Kind::Etcd).await.expect("etcd can be started here");
    assert!(refuses_the_late(&lines_with("fenced_etcd", &server.url())));
}

#[tokio::test]
async fn s3_has_objects_behind_a_fence() {
    let server = Server::start(Kind::Ministack).await.expect("an S3 server can be started here");
    assert!(refuses_the_late(&lines_with("fenced_s3", &server.url())));
}

fn refuses_the_late(said: &[String]) -> bool {
    said[..2] == SAID[..2] && said[2].starts_with("epoch 1 is behind 2")
}

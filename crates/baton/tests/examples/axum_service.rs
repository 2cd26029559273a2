//! The web service: it answers, writes what only the leader writes, and ends in order.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use baton_testbed::{Kind, Server};

use super::built;

const PROMOTED: &str = "\"event\":\"coordinator-promoted\"";

#[test]
fn it_answers_while_the_leader_writes_and_ends_when_told_to() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("example.db");
    let logged =
        answers_writes_and_ends(&format!("sqlite://{}?busy_timeout_ms=2000", file.display()));
    assert!(logged.contains(PROMOTED), "{logged}");
}

#[tokio::test]
async fn it_does_so_on_postgres_too() {
    let server = Server::start(Kind::Postgres).await.expect("postgres can be started here");
    let logged = answers_writes_and_ends(&format!("{}?timeout_ms=2000", server.url()));
    assert!(logged.contains(PROMOTED), "{logged}");
}

/// What it logged meanwhile.
fn answers_writes_and_ends(url: &str) -> String {
    let folder = tempfile::tempdir().expect("there is room");
    let mut command = Command::new(built("axum_service"));
    command.arg(url).env("LISTEN", "127.0.0.1:0").env("METRICS", "127.0.0.1:0");
    let log = std::fs::File::create(folder.path().join("log")).expect("there is room");
    command.env("NODE_ID", "web-1").stdout(Stdio::piped()).stderr(log);
    let mut service = Service(command.spawn().expect("`cargo test -p baton` builds it"));
    let mut said = BufReader::new(service.0.stdout.take().expect("it is piped")).lines();
    let mut line = || said.next().expect("it goes on").expect("it prints text");
    let listens = line();
    let web = listens.strip_prefix("web-1 listens on http://").expect("its first line");
    let metrics = line();
    let metrics = metrics.strip_prefix("metrics at http://").expect("its second line");
    let metrics = metrics.strip_suffix("/metrics").expect("with a path");

    while !get(web, "/").ends_with(" reports; leader: web-1\n") || get(web, "/").contains("\n0 ") {
        std::thread::park_timeout(Duration::from_millis(10));
    }
    assert!(get(metrics, "/metrics").contains("\nbaton_leader{"), "{}", get(metrics, "/metrics"));
    let pid = rustix::process::Pid::from_child(&service.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is there");
    assert_eq!(line(), "left");
    assert!(service.0.wait().expect("it is a child of this process").success());
    std::fs::read_to_string(folder.path().join("log")).expect("it logs")
}

/// Ends with the test, also with one that fails.
struct Service(std::process::Child);

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The whole answer, head and body.
fn get(address: &str, path: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers in text");
    answer
}

//! Just enough of each protocol to write something and to find it again.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use baton_testbed::{Kind, Server};

/// What a client program says when it is asked this.
fn said(program: &str, arguments: &[&str]) -> String {
    let folders = ["/usr/lib/postgresql/15/bin", "/usr/bin"];
    let path = folders.iter().map(|folder| PathBuf::from(folder).join(program));
    let program = path.into_iter().find(|path| path.is_file()).expect("clients are installed");
    let output = Command::new(program).args(arguments).output().expect("it can be started");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).trim().to_owned()
}

/// The word that is written.
const WORD: &str = "treasure";
/// The same in base 64, as etcd's gateway wants it.
const CODED: &str = "dHJlYXN1cmU=";

/// Writes a word, in a way that outlives the server. ZooKeeper is only asked for its state, and
/// PgBouncer keeps nothing.
pub fn write(server: &Server) {
    let (kind, address) = (server.kind(), server.address());
    let said = match kind {
        Kind::Postgres | Kind::Postgres18 => {
            sql(server, &format!("CREATE TABLE t AS SELECT '{WORD}' AS w"))
        }
        Kind::Mariadb | Kind::Mysql => {
            sql(server, &format!("CREATE TABLE t (w TEXT) AS SELECT '{WORD}' AS w"))
        }
        Kind::Redis => redis(address, &format!("SET w {WORD}\r\n")),
        Kind::Etcd => {
            etcd(address, "/v3/kv/put", &format!(r#"{{"key":"dw==","value":"{CODED}"}}"#))
        }
        Kind::Ministack | Kind::Seaweedfs => http(address, "PUT", "/baton/w", WORD),
        Kind::Zookeeper | Kind::Pgbouncer => return,
    };
    assert!(!said.to_lowercase().contains("error"), "{kind:?}: {said}");
}

/// Is the word there?
pub fn has(server: &Server) -> bool {
    let address = server.address();
    let said = match server.kind() {
        Kind::Postgres | Kind::Postgres18 | Kind::Mariadb | Kind::Mysql => {
            sql(server, "SELECT w FROM t")
        }
        Kind::Redis => redis(address, "GET w\r\n"),
        Kind::Etcd => etcd(address, "/v3/kv/range", r#"{"key":"dw=="}"#).replace(CODED, WORD),
        Kind::Ministack | Kind::Seaweedfs => http(address, "GET", "/baton/w", ""),
        Kind::Zookeeper | Kind::Pgbouncer => WORD.to_owned(),
    };
    said.contains(WORD)
}

/// The answer to a statement.
pub fn sql(server: &Server, statement: &str) -> String {
    let port = server.address().port().to_string();
    match server.kind() {
        Kind::Postgres | Kind::Postgres18 => {
            let at = ["-h127.0.0.1", "-Upostgres", "-At", "-p", &port, "-c", statement];
            said("psql", &at)
        }
        _ => {
            let at = ["--no-defaults", "-h127.0.0.1", "-uroot", "-N", "-P", &port, "baton", "-e"];
            said("mariadb", &[&at[..], &[statement]].concat())
        }
    }
}

fn redis(address: SocketAddr, command: &str) -> String {
    talk(address, command, 64)
}

/// By its gateway for JSON, where everything is in base 64.
fn etcd(address: SocketAddr, path: &str, body: &str) -> String {
    http(address, "POST", path, body)
}

fn http(address: SocketAddr, method: &str, path: &str, body: &str) -> String {
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    talk(address, &request, usize::MAX)
}

fn talk(address: SocketAddr, request: &str, most: usize) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).expect("the server listens");
    stream.write_all(request.as_bytes()).expect("the server listens");
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).expect("the server answers");
        answer.extend_from_slice(&buffer[..count]);
        if count == 0 || (most < usize::MAX && answer.ends_with(b"\n")) {
            return String::from_utf8_lossy(&answer).into_owned();
        }
    }
}

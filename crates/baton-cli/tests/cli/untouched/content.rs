//! All that is in a store, as text to be compared.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use baton_drivers::mysql::mysql_async::prelude::Queryable as _;
use baton_drivers::mysql::mysql_async::{Conn, Row};
use baton_drivers::postgres::tokio_postgres::{NoTls, SimpleQueryMessage, connect};
use baton_drivers::redis::client;
use baton_testbed::{Kind, Server};

/// Every table with the versions of its rows, every function, in the user's schemas.
const POSTGRES: [&str; 3] = [
    "SELECT nspname || '.' || relname || relkind::text FROM pg_class JOIN pg_namespace n \
     ON n.oid = relnamespace WHERE nspname NOT LIKE 'pg_%' AND nspname <> 'information_schema' \
     ORDER BY 1",
    "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace \
     ORDER BY 1",
    "SELECT table_name || query_to_xml(format('SELECT t.*, t.xmin, t.ctid FROM public.%I t', \
     table_name), true, false, '') FROM information_schema.tables \
     WHERE table_schema = 'public' ORDER BY 1",
];

/// All that is in the server, or in the folder if there is none.
pub async fn content(server: Option<&Server>, folder: &Path) -> String {
    let Some(server) = server else { return files(folder) };
    let address = server.address();
    match server.kind() {
        Kind::Postgres => {
            let mut all = String::new();
            for sql in POSTGRES {
                all.push_str(&run_sql(server, sql).await);
            }
            all
        }
        Kind::Mariadb => mysql(server).await,
        Kind::Redis => redis(server),
        Kind::Etcd => {
            http(address, "POST /v3/kv/range", "{\"key\": \"AA==\", \"range_end\": \"AA==\"}")
        }
        Kind::Ministack => http(address, "GET /baton?versions", ""),
        kind => unreachable!("{kind:?} is not among those"),
    }
}

/// Runs SQL as the superuser.
pub async fn run_sql(server: &Server, sql: &str) -> String {
    if server.kind() == Kind::Mariadb {
        let conn = Conn::from_url(server.url()).await;
        let rows: Vec<Row> =
            conn.expect("it answers").query(sql).await.expect("the server accepts it");
        return rows.into_iter().map(|row| format!("{:?}\n", row.unwrap_raw())).collect();
    }
    let (client, connection) = connect(&server.url(), NoTls).await.expect("it answers");
    let mut reader = tokio::task::JoinSet::new();
    reader.spawn(async move { drop(connection.await) });
    let said = client.simple_query(sql).await.expect("the server accepts it");
    let rows = said.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(format!("{}\n", row.get(0).unwrap_or_default())),
        _ => None,
    });
    rows.collect()
}

async fn mysql(server: &Server) -> String {
    let database = "table_schema = database()";
    let tables = format!("SELECT table_name FROM information_schema.tables WHERE {database}");
    let conn = Conn::from_url(server.url()).await;
    let tables: Vec<String> =
        conn.expect("it answers").query(tables).await.expect("the server accepts it");
    let mut all = run_sql(
        server,
        "SELECT routine_name, last_altered FROM information_schema.routines \
         WHERE routine_schema = database() ORDER BY 1",
    )
    .await;
    for table in tables {
        all.push_str(&run_sql(server, &format!("CHECKSUM TABLE `{table}`")).await);
    }
    all
}

fn redis(server: &Server) -> String {
    let client = client::Client::open(server.url()).expect("it is a URL");
    let mut connection = client.get_connection().expect("it answers");
    let keys: Vec<String> =
        client::cmd("KEYS").arg("*").query(&mut connection).expect("it answers");
    let dumped = keys.into_iter().map(|key| {
        let dump: Vec<u8> =
            client::cmd("DUMP").arg(&key).query(&mut connection).expect("it answers");
        (key, dump)
    });
    format!("{:?}", dumped.collect::<BTreeMap<_, _>>())
}

/// From now on the bucket keeps every version: an object that was made and removed is seen, too.
pub fn keep_versions(server: &Server) {
    let on = "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
              <Status>Enabled</Status></VersioningConfiguration>";
    http(server.address(), "PUT /baton?versioning", on);
}

/// The body of an answer.
fn http(address: SocketAddr, what: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let length = body.len();
    let request = format!("{what} HTTP/1.0\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).expect("the server listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("there is a head");
    assert!(head.contains(" 200 "), "{head}");
    body.to_owned()
}

/// Every file with its bytes. The index of the log is where SQLite keeps its locks.
fn files(folder: &Path) -> String {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be read").path();
        let is_locks = path.extension().is_some_and(|end| end == "db-shm");
        let content = match path.is_dir() {
            true => files(&path).into_bytes(),
            false if is_locks => Vec::new(),
            false => std::fs::read(&path).expect("it can be read"),
        };
        all.insert(path, content);
    }
    format!("{all:?}")
}

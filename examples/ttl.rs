//! Like `plugin`, but the plugin comes with baton: it removes what has expired from a table of the
//! application's own.

use std::time::Duration;

use baton::drivers::sqlite::rusqlite::Connection;
use baton::plugins::ttl::Ttl;
use baton::sweep::{self, Strategy, Table};
use baton::{Event, Node};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());

    // The application's own database, which baton has nothing to do with.
    let file = format!("{}.sessions", url.trim_start_matches("sqlite://"));
    let sessions = Connection::open(&file)?;
    sessions.execute_batch(
        "DROP TABLE IF EXISTS sessions;
         CREATE TABLE sessions (id INTEGER PRIMARY KEY, expires_at TEXT);
         CREATE INDEX sessions_expire ON sessions (expires_at);
         INSERT INTO sessions (expires_at) VALUES
             (datetime('now', '-1 hour')), (datetime('now', '-1 second')),
             (datetime('now', '+1 hour'))",
    )?;

    let table = Table::new("sessions").key(["id"]).expires("expires_at");
    let ttl = Ttl::new()
        .sweep(sweep::open(&format!("sqlite://{file}"), table, Strategy::Delete)?)
        .every(Duration::from_millis(100));
    let builder = Node::builder(baton::open(&url).await?).plugin(ttl);
    let (node, mut events) = builder.build_with_events()?;
    while let Some(stamped) = events.next().await {
        if let Event::PluginSwept { target, records, .. } = &stamped.event {
            println!("{target}: {records} expired");
            break;
        }
    }
    let left: i64 = sessions.query_row("SELECT count(*) FROM sessions", (), |row| row.get(0))?;
    println!("{left} left");
    node.leave().await;
    Ok(())
}

//! A session of this handle's own, and how to tell: nothing that is set here may reach another
//! application, and what is set must stay.
//!
//! ```text
//!   pooler=none     settings travel with the start of the session, and a mark with them
//!                     the server ──► a session with the mark
//!                     a pooler ────► refuses them, or leaves them out: no mark ──► Pooled
//!   pooler=session  a look first: two clients, one server process? another one later? ──► Pooled
//!                     then the settings, by statements
//! ```
//!
//! A pooler starts its own sessions with the server, for all of its clients. One that lends them
//! out by transaction would pass what this session sets, time limits above all, on to others.

use std::future::Future;

use tokio_postgres::{Client, Error, SimpleQueryMessage};

use super::NAME;
use super::config::{Pooler, PostgresConfig};
use super::connect::Connection;
use crate::OpenError;

/// A setting that no server has, so that only a session that was started with it has it.
pub(super) const MARK: &str = "baton.session";
pub(super) const MARKED: &str = "own";

/// What every session is like. A statement that is not waited for any more ends by itself, and one
/// that waits for a lock leaves half of the time to what comes after it on this connection.
fn settings(config: &PostgresConfig) -> [(&'static str, String); 3] {
    let ms = config.timeout.as_millis().max(2);
    [
        ("default_transaction_isolation", "read committed".to_owned()),
        ("statement_timeout", ms.to_string()),
        ("lock_timeout", (ms / 2).to_string()),
    ]
}

/// The settings as a part of the session's start.
pub(super) fn options(config: &PostgresConfig) -> Option<String> {
    let settings = settings(config).into_iter().chain([(MARK, MARKED.to_owned())]);
    let option = |(name, value): (&str, String)| format!("-c {name}={}", value.replace(' ', "\\ "));
    let options = settings.map(option).collect::<Vec<_>>().join(" ");
    (config.pooler == Pooler::None).then_some(options)
}

/// The settings as statements, where a pooler takes no others.
pub(super) fn statements(config: &PostgresConfig) -> String {
    let set = |(name, value): (&str, String)| format!("SET {name} TO '{value}'; ");
    match config.pooler {
        Pooler::None => String::new(),
        Pooler::Session => settings(config).into_iter().map(set).collect(),
    }
}

/// Looks whether the pooler gives each of two clients a server process of its own, before anything
/// is set. A pool that has none to spare lets the other wait, as one of transactions would not.
pub(super) async fn look(
    connection: &Connection,
    other: impl Future<Output = Option<Result<Connection, Error>>>,
    place: &str,
) -> Result<Result<(), OpenError>, Error> {
    let first = process(&connection.client).await?;
    let other = match other.await {
        Some(Ok(other)) => process(&other.client).await.ok(),
        Some(Err(_)) | None => None,
    };
    let again = process(&connection.client).await?;
    let detail = match other.flatten() == first {
        true => format!("it gives two clients server process {}", shown(&first)),
        false if again == first => return Ok(Ok(())),
        false => format!("it changes from server process {} to {}", shown(&first), shown(&again)),
    };
    Ok(Err(error(place, detail)))
}

fn shown(process: &Option<String>) -> &str {
    process.as_deref().unwrap_or("unknown")
}

async fn process(client: &Client) -> Result<Option<String>, Error> {
    let answer = client.simple_query("SELECT pg_backend_pid()").await?;
    Ok(answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}

/// The pooler is refused.
pub(super) fn error(place: &str, detail: String) -> OpenError {
    OpenError::Pooled { store: NAME, place: place.to_owned(), detail }
}

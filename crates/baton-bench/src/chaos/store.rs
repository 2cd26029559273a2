//! Faults of the server: paused, killed, sessions ended, a replica promoted. One at a time.

use std::net::SocketAddr;

use baton::Namespace;
use baton::clock::Moment;
use baton_core::protocol::TermRecord;
use baton_testbed::Server;
use mysql_async::prelude::Queryable;
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use super::fault::ChaosFault;
use super::fault_kind::FaultKind;
use super::replica::Replica;
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind};

/// What brings the server back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerRepair {
    Resume,
    Start,
    Back,
}

/// The server, and until when it is down.
pub struct StoreServer<'a> {
    kind: StoreKind,
    server: Option<&'a Server>,
    replica: Option<Replica<'a>>,
    /// Where nodes are to go from now on, if that has changed.
    moved: Option<SocketAddr>,
    down: Option<(Moment, ServerRepair)>,
}

impl<'a> StoreServer<'a> {
    /// A server that is up; a file has none.
    pub async fn new(fixture: &'a Fixture, namespace: &Namespace) -> Result<Self, BenchError> {
        let replica = Replica::start(fixture, namespace).await?;
        let (kind, server) = (fixture.kind(), fixture.server());
        Ok(Self { kind, server, replica, moved: None, down: None })
    }

    /// Where nodes are to go, if that has changed since it was asked last.
    pub fn moved(&mut self) -> Option<SocketAddr> {
        self.moved.take()
    }

    /// Terms that were lost with the data of a server that came to follow another.
    pub fn lost(self) -> Vec<TermRecord> {
        self.replica.map_or_else(Vec::new, |replica| replica.lost)
    }

    /// Is the server up?
    pub fn is_up(&self) -> bool {
        self.down.is_none()
    }

    /// Strikes it. Says whether there was anything to strike.
    pub async fn strike(&mut self, fault: &ChaosFault, now: Moment) -> Result<bool, BenchError> {
        let Some(server) = self.server.filter(|_| self.is_up()) else { return Ok(false) };
        let repair = match fault.kind {
            FaultKind::PauseStore => server.pause().map(|()| ServerRepair::Resume)?,
            FaultKind::KillStore => server.kill().await.map(|()| ServerRepair::Start)?,
            FaultKind::PromoteReplica => {
                let Some(replica) = &mut self.replica else { return Ok(false) };
                self.moved = replica.promote(fault.pick.is_multiple_of(2)).await?;
                if self.moved.is_none() {
                    return Ok(false);
                }
                ServerRepair::Back
            }
            // A server that has only just come back may refuse one more session.
            _ => return Ok(self.end_session(&server.url(), fault.pick).await.unwrap_or(false)),
        };
        self.down = Some((now + fault.lasts, repair));
        Ok(true)
    }

    /// When the server is to be brought back.
    pub fn next_repair(&self) -> Moment {
        self.down.map_or(Moment::NEVER, |(at, _)| at)
    }

    /// Brings it back if its time has come.
    pub async fn repair(&mut self, now: Moment) -> Result<(), BenchError> {
        if let (Some(server), Some((at, repair))) = (self.server, self.down)
            && at <= now
        {
            match repair {
                ServerRepair::Resume => server.resume()?,
                ServerRepair::Start => server.start_again().await?,
                ServerRepair::Back => {
                    if let Some(replica) = &mut self.replica {
                        self.moved = Some(replica.back().await?);
                    }
                }
            }
            self.down = None;
        }
        Ok(())
    }

    /// Ends a client's session. Says whether there was one.
    async fn end_session(&self, url: &str, pick: u64) -> Result<bool, BenchError> {
        match self.kind {
            StoreKind::Postgres => end_postgres(url, pick).await,
            StoreKind::Mysql => end_mysql(url, pick).await,
            _ => Ok(false),
        }
    }
}

async fn end_postgres(url: &str, pick: u64) -> Result<bool, BenchError> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let mut moving = JoinSet::new();
    moving.spawn(connection);
    let others = "SELECT pid FROM pg_stat_activity
                  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    let sessions = client.query(others, &[]).await?;
    let Some(session) = chosen(&sessions, pick) else { return Ok(false) };
    let end = "SELECT pg_terminate_backend($1)";
    Ok(client.query_one(end, &[&session.get::<_, i32>(0)]).await?.get(0))
}

async fn end_mysql(url: &str, pick: u64) -> Result<bool, BenchError> {
    let mut connection = mysql_async::Conn::from_url(url).await?;
    let others = "SELECT id FROM information_schema.processlist
                  WHERE id <> CONNECTION_ID() AND db = 'baton'";
    let sessions: Vec<u64> = connection.query(others).await?;
    let ended = match chosen(&sessions, pick) {
        // It may have ended meanwhile, which is no trouble.
        Some(session) => connection.query_drop(format!("KILL {session}")).await.is_ok(),
        None => false,
    };
    connection.disconnect().await?;
    Ok(ended)
}

fn chosen<T>(all: &[T], pick: u64) -> Option<&T> {
    all.get((pick % all.len().max(1) as u64) as usize)
}

//! The thread that has the connection: it takes all that is queued and makes one transaction of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use baton_core::ids::Namespace;
use baton_core::protocol::Request;
use baton_store::{Answer, Call, Operation, StoreError};
use tokio::sync::{mpsc, oneshot};

use super::batch;
use super::config::SqliteConfig;
use super::connect::FileConnection;
use super::error::SqliteOpenError;
use super::locks;
use super::machine::Machine;

/// How many jobs may share a transaction.
const BATCH_MAX: usize = 256;

/// How many jobs may wait; the callers of further ones wait to be let in.
const QUEUE_MAX: usize = 1_024;

/// One call, and where its answer goes.
pub(super) struct Job {
    pub(super) namespace: Namespace,
    pub(super) call: Call,
    pub(super) reply: oneshot::Sender<Result<Answer, StoreError>>,
}

impl Job {
    pub(super) fn writes(&self) -> bool {
        self.call.writes()
    }

    fn answer(self, answer: Result<Answer, StoreError>) {
        // The caller may have stopped waiting.
        let _ = self.reply.send(answer);
    }
}

/// What the thread has.
pub(super) struct Worker {
    config: SqliteConfig,
    machine: Machine,
    connection: Option<FileConnection>,
    state: batch::State,
    commits: Arc<AtomicU64>,
}

/// Starts a thread on this connection. It ends when every sender is gone.
pub(super) fn start(
    config: SqliteConfig,
    machine: Machine,
    connection: FileConnection,
    commits: Arc<AtomicU64>,
) -> Result<mpsc::Sender<Job>, SqliteOpenError> {
    let (sender, jobs) = mpsc::channel(QUEUE_MAX);
    let state = batch::State::default();
    let worker = Worker { config, machine, connection: Some(connection), state, commits };
    let thread = std::thread::Builder::new().name("baton-sqlite".to_owned());
    let started = thread.spawn(move || worker.run(jobs));
    started.map_err(|error| SqliteOpenError::NoThread { error })?;
    Ok(sender)
}

impl Worker {
    fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(first) = jobs.blocking_recv() {
            let mut batch = vec![first];
            while batch.len() < BATCH_MAX
                && let Ok(job) = jobs.try_recv()
            {
                batch.push(job);
            }
            self.serve(batch);
        }
    }

    fn serve(&mut self, batch: Vec<Job>) {
        let mut connection = match self.ready() {
            Ok(connection) => connection,
            Err(error) => {
                let error = error.in_use();
                return batch.into_iter().for_each(|job| job.answer(Err(error.clone())));
            }
        };
        let batch = locked(batch, &connection);
        let (answers, committed) = self.state.transact(&mut connection, &batch);
        self.commits.fetch_add(u64::from(committed), Ordering::Relaxed);
        for (job, answer) in batch.into_iter().zip(answers) {
            if let (Call::Core(Request::Leave { boot, .. }), Ok(_)) = (&job.call, &answer) {
                locks::let_go(&connection.boots, *boot, &job.namespace);
            }
            job.answer(answer);
        }
        // A connection that is stuck in a transaction is of no use any more.
        self.connection = Some(connection).filter(|connection| connection.conn.is_autocommit());
    }

    /// The connection, on the file that the path names now.
    fn ready(&mut self) -> Result<FileConnection, SqliteOpenError> {
        if let Some(connection) = &self.connection {
            if connection.is_current()? {
                return Ok(self.connection.take().expect("it was there a line ago"));
            }
            // The old connection is closed before another file of that name is opened.
            self.connection = None;
        }
        FileConnection::open(&self.config, &self.machine, false, self.state.lineage_seen())
    }
}

/// Locks a file for each boot that beats. A beat that gets none is not made.
fn locked(batch: Vec<Job>, connection: &FileConnection) -> Vec<Job> {
    let FileConnection { boots, machine, .. } = connection;
    let mut ready = Vec::with_capacity(batch.len());
    for job in batch {
        let held = match &job.call {
            Call::Core(Request::Beat(beat)) => {
                locks::hold(boots, beat.node.boot, &job.namespace, machine)
            }
            _ => Ok(()),
        };
        if let Err(error) = held {
            let detail = format!("no process lock in {}: {error}", boots.path.display());
            job.answer(Err(StoreError::Unavailable { detail }));
        } else {
            ready.push(job);
        }
    }
    ready
}

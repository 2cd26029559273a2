//! The thread that has the connection: it takes all that is queued and makes one transaction of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use baton_core::ids::Namespace;
use baton_core::protocol::Request;
use baton_store::{Answer, Call, Operation, StoreError};
use tokio::sync::{mpsc, oneshot};

use super::batch;
use super::boot::Machine;
use super::config::SqliteConfig;
use super::connect::Link;
use super::error::Refusal;
use super::locks;

/// At most so many jobs share a transaction.
const BATCH_MAX: usize = 256;

/// At most so many jobs wait; whoever comes then waits to be let in.
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
        // Whoever asked may have gone; then nobody is told.
        let _ = self.reply.send(answer);
    }
}

/// What the thread has.
pub(super) struct Worker {
    config: SqliteConfig,
    machine: Machine,
    link: Option<Link>,
    state: batch::State,
    commits: Arc<AtomicU64>,
}

/// Starts a thread on this connection. It ends when every sender is gone.
pub(super) fn start(
    config: SqliteConfig,
    machine: Machine,
    link: Link,
    commits: Arc<AtomicU64>,
) -> Result<mpsc::Sender<Job>, Refusal> {
    let (sender, jobs) = mpsc::channel(QUEUE_MAX);
    let state = batch::State::default();
    let worker = Worker { config, machine, link: Some(link), state, commits };
    let thread = std::thread::Builder::new().name("baton-sqlite".to_owned());
    let started = thread.spawn(move || worker.run(jobs));
    started.map_err(|error| Refusal::NoThread { error })?;
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
        let mut link = match self.ready() {
            Ok(link) => link,
            Err(refusal) => {
                let error = refusal.in_use();
                return batch.into_iter().for_each(|job| job.answer(Err(error.clone())));
            }
        };
        let batch = locked(batch, &link, &self.machine);
        let (answers, committed) = self.state.transact(&mut link, &self.machine, &batch);
        self.commits.fetch_add(u64::from(committed), Ordering::Relaxed);
        for (job, answer) in batch.into_iter().zip(answers) {
            if let (Call::Core(Request::Leave { boot, .. }), Ok(_)) = (&job.call, &answer) {
                locks::let_go(&link.boots, *boot, &job.namespace);
            }
            job.answer(answer);
        }
        // A connection that is stuck in a transaction is of no use any more.
        self.link = Some(link).filter(|link| link.conn.is_autocommit());
    }

    /// The connection, on the file that the path names now.
    fn ready(&mut self) -> Result<Link, Refusal> {
        if let Some(link) = &self.link {
            if link.is_current()? {
                return Ok(self.link.take().expect("it was there a line ago"));
            }
            // The old connection is closed before another file of that name is opened.
            self.link = None;
        }
        Link::open(&self.config, &self.machine, false, self.state.lineage_seen())
    }
}

/// Locks a file for each boot that beats. A beat that gets none is not made.
fn locked(batch: Vec<Job>, link: &Link, machine: &Machine) -> Vec<Job> {
    let mut ready = Vec::with_capacity(batch.len());
    for job in batch {
        let held = match &job.call {
            Call::Core(Request::Beat(beat)) => {
                locks::hold(&link.boots, beat.node.boot, &job.namespace, machine)
            }
            _ => Ok(()),
        };
        match held {
            Ok(()) => ready.push(job),
            Err(error) => {
                let detail = format!("no process lock in {}: {error}", link.boots.path.display());
                job.answer(Err(StoreError::Unavailable { detail }));
            }
        }
    }
    ready
}

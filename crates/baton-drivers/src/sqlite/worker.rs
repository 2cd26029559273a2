//! The thread that has the connection: it takes all that is queued and makes one transaction of it,
//! with one commit, however many jobs.

use std::collections::BTreeSet;

use baton_core::ids::{Lineage, Namespace};
use baton_core::protocol::{BeatReply, Reply, Request};
use baton_store::{Answer, Call, Operation, StoreError};
use tokio::sync::{mpsc, oneshot};

use super::config::SqliteConfig;
use super::connect::FileConnection;
use super::context::CallContext;
use super::error::{SqliteOpenError, uncommitted};
use super::machine::Machine;
use super::{lineage, locks};
use crate::driver::{DriverError, SeenLeases};

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

type Answers = Vec<Result<Answer, StoreError>>;

/// What the thread has, and remembers from one transaction to the next.
pub(super) struct Worker {
    config: SqliteConfig,
    machine: Machine,
    connection: Option<FileConnection>,
    /// Namespaces that are known to have begun, in this lineage.
    begun: BTreeSet<Namespace>,
    /// The highest lineage seen.
    lineage: u64,
    leases: SeenLeases,
}

/// Starts a thread on this connection. It ends when every sender is gone.
pub(super) fn start(
    config: SqliteConfig,
    machine: Machine,
    connection: FileConnection,
) -> Result<mpsc::Sender<Job>, SqliteOpenError> {
    let (sender, jobs) = mpsc::channel(QUEUE_MAX);
    let (connection, begun, leases) = (Some(connection), BTreeSet::new(), SeenLeases::default());
    let worker = Worker { config, machine, connection, begun, lineage: 0, leases };
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
        let answers = self.transact(&mut connection, &batch);
        for (job, answer) in batch.into_iter().zip(answers) {
            if let (Call::Core(Request::Leave { boot, .. }), Ok(_)) = (&job.call, &answer) {
                locks::release(&connection.boots, *boot, &job.namespace);
            }
            job.answer(answer);
        }
        connection.shorten_log();
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
        FileConnection::open(&self.config, &self.machine, false, self.lineage)
    }

    /// Carries the jobs out.
    fn transact(&mut self, connection: &mut FileConnection, jobs: &[Job]) -> Answers {
        if jobs.is_empty() {
            return Vec::new();
        }
        self.attempt(connection, jobs).unwrap_or_else(|error| {
            let error = error.into_store_error();
            roll_back(connection);
            jobs.iter().map(|_| Err(error.clone())).collect()
        })
    }

    fn attempt(
        &mut self,
        connection: &mut FileConnection,
        jobs: &[Job],
    ) -> Result<Answers, DriverError> {
        let writes = jobs.iter().any(Job::writes);
        if writes {
            let durably = self.begins_one(connection, jobs)?;
            connection.sync_fully(durably)?;
        }
        let known = self.lineage;
        let lineage = self.begin(connection, writes)?;
        if lineage.0 > known && !self.begun.is_empty() {
            // What began in an older line of history may not have begun in this one.
            self.begun.clear();
            roll_back(connection);
            return self.attempt(connection, jobs);
        }
        let answers = perform_all(connection, lineage, jobs)?;
        let seen = |namespace| self.leases.of(namespace);
        let ahead = |(namespace, reply)| seen(namespace).is_some_and(|it| it.is_ahead_of(reply));
        if beats(jobs, &answers).any(ahead) {
            // Nothing of this is kept. All is done again, in the lineage that begins now.
            roll_back(connection);
            self.begun.clear();
            self.lineage = lineage.0.saturating_add(1);
            return self.attempt(connection, jobs);
        }
        run(connection, "COMMIT").map_err(|error| uncommitted(&error))?;
        beats(jobs, &answers).for_each(|(namespace, reply)| self.leases.note(namespace, reply));
        Ok(still_there(connection, jobs, answers))
    }

    /// Will a namespace begin? That must outlast a loss of power: the leap of its epochs is counted
    /// from there.
    fn begins_one(&mut self, connection: &FileConnection, jobs: &[Job]) -> rusqlite::Result<bool> {
        for Job { namespace, .. } in jobs.iter().filter(|job| job.writes()) {
            if self.begun.contains(namespace) {
                continue;
            }
            let sql = "SELECT EXISTS (SELECT 1 FROM baton_namespaces WHERE namespace = ?1)";
            let mut has_begun = connection.conn.prepare_cached(sql)?;
            if !has_begun.query_row([namespace.as_str()], |row| row.get::<_, bool>(0))? {
                return Ok(true);
            }
            self.begun.insert(namespace.clone());
        }
        Ok(false)
    }

    /// Begins a transaction, in the lineage that the data is in.
    fn begin(
        &mut self,
        connection: &mut FileConnection,
        writes: bool,
    ) -> Result<Lineage, DriverError> {
        let begin = if writes { "BEGIN IMMEDIATE" } else { "BEGIN" };
        run(connection, begin)?;
        let mut found = lineage::current(&connection.conn)?;
        if found < self.lineage {
            // The content went back, though the file is the same.
            roll_back(connection);
            lineage::settle(connection, self.lineage).map_err(|error| error.in_use())?;
            run(connection, begin)?;
            found = lineage::current(&connection.conn)?;
        }
        self.lineage = found;
        Ok(Lineage(found))
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
            let detail =
                format!("the process lock in {} cannot be taken: {error}", boots.path.display());
            job.answer(Err(StoreError::Unavailable { detail }));
        } else {
            ready.push(job);
        }
    }
    ready
}

/// The beats among these, and their replies.
fn beats<'a>(
    jobs: &'a [Job],
    answers: &'a Answers,
) -> impl Iterator<Item = (&'a Namespace, &'a BeatReply)> {
    jobs.iter().zip(answers).filter_map(|(job, answer)| match answer {
        Ok(Answer::Core(Reply::Beat(reply))) => Some((&job.namespace, reply)),
        _ => None,
    })
}

fn perform_all(
    connection: &FileConnection,
    lineage: Lineage,
    jobs: &[Job],
) -> Result<Answers, DriverError> {
    let FileConnection { conn, machine, boots, .. } = connection;
    let answer = |job: &Job| {
        let (namespace, at) = (&job.namespace, machine.step_time());
        let context = CallContext { conn, namespace, at, machine, lineage, boots };
        Ok(perform(&context, job)?.map_err(DriverError::into_store_error))
    };
    jobs.iter().map(answer).collect()
}

/// One job, between savepoints: an error undoes it and nothing else. The outer error undoes all.
fn perform(
    context: &CallContext<'_>,
    job: &Job,
) -> Result<Result<Answer, DriverError>, DriverError> {
    let run = |sql| context.conn.prepare_cached(sql)?.execute([]).map(drop);
    if !job.writes() {
        return Ok(context.perform(&job.call));
    }
    run("SAVEPOINT job")?;
    let answer = context.perform(&job.call);
    if answer.is_err() {
        // Some errors make SQLite give the whole transaction up.
        if context.conn.is_autocommit() {
            return answer.map(Ok);
        }
        run("ROLLBACK TO job")?;
    }
    run("RELEASE job")?;
    Ok(answer)
}

/// A write into a file that lost its name meanwhile may be lost.
fn still_there(connection: &FileConnection, jobs: &[Job], answers: Answers) -> Answers {
    let detail = match connection.is_current() {
        Ok(true) => return answers,
        Ok(false) => format!("{} was replaced meanwhile", connection.config.path.display()),
        Err(SqliteOpenError::Missing { path }) => {
            format!("{} was removed meanwhile", path.display())
        }
        Err(error) => error.to_string(),
    };
    let judge = |(job, answer): (&Job, Result<Answer, StoreError>)| match answer {
        Ok(_) if job.writes() => Err(StoreError::Unknown { detail: detail.clone() }),
        Ok(_) => Err(StoreError::Unavailable { detail: detail.clone() }),
        failed => failed,
    };
    jobs.iter().zip(answers).map(judge).collect()
}

fn run(connection: &FileConnection, sql: &str) -> rusqlite::Result<()> {
    connection.conn.prepare_cached(sql)?.execute([]).map(drop)
}

/// Ends a transaction that failed. Whether that worked shows in the connection's state.
fn roll_back(connection: &FileConnection) {
    if !connection.conn.is_autocommit() {
        let _ = run(connection, "ROLLBACK");
    }
}

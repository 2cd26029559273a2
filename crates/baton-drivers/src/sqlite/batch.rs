//! A batch of jobs as one transaction: one commit, however many jobs.

use std::collections::BTreeSet;

use baton_core::ids::{Lineage, Namespace};
use baton_core::protocol::{BeatReply, Reply};
use baton_store::{Answer, StoreError};

use super::connect::FileConnection;
use super::context::CallContext;
use super::error::{SqliteOpenError, uncommitted};
use super::lineage;
use super::worker::Job;
use crate::driver::{DriverError, SeenLeases};

type Answers = Vec<Result<Answer, StoreError>>;

/// What a handle remembers from one transaction to the next.
#[derive(Default)]
pub(super) struct State {
    /// Namespaces that are known to have begun.
    begun: BTreeSet<Namespace>,
    /// The highest lineage seen.
    lineage: u64,
    leases: SeenLeases,
}

impl State {
    /// The highest lineage that this handle ever saw.
    pub(super) fn lineage_seen(&self) -> u64 {
        self.lineage
    }

    /// Carries the jobs out, and says whether there was a commit of something written.
    pub(super) fn transact(
        &mut self,
        connection: &mut FileConnection,
        jobs: &[Job],
    ) -> (Answers, bool) {
        if jobs.is_empty() {
            return (Vec::new(), false);
        }
        self.attempt(connection, jobs).unwrap_or_else(|error| {
            let error = error.into_store_error();
            roll_back(connection);
            (jobs.iter().map(|_| Err(error.clone())).collect(), false)
        })
    }

    fn attempt(
        &mut self,
        connection: &mut FileConnection,
        jobs: &[Job],
    ) -> Result<(Answers, bool), DriverError> {
        let writes = jobs.iter().any(Job::writes);
        if writes {
            let durably = self.begins_one(connection, jobs)?;
            connection.sync_fully(durably)?;
        }
        let lineage = self.begin(connection, writes)?;
        let answers = perform_all(connection, lineage, jobs)?;
        let seen = |namespace| self.leases.of(namespace);
        let ahead = |(namespace, reply)| seen(namespace).is_some_and(|it| it.is_ahead_of(reply));
        if beats(jobs, &answers).any(ahead) {
            // Nothing of this is kept. All is done again, in the lineage that begins now.
            roll_back(connection);
            self.lineage = lineage.0.saturating_add(1);
            return self.attempt(connection, jobs);
        }
        run(connection, "COMMIT").map_err(|error| uncommitted(&error))?;
        beats(jobs, &answers).for_each(|(namespace, reply)| self.leases.note(namespace, reply));
        Ok((still_there(connection, jobs, answers), writes))
    }

    /// Will a namespace begin? That must outlast a loss of power: the leap of its epochs is counted
    /// from there.
    fn begins_one(&mut self, connection: &FileConnection, jobs: &[Job]) -> rusqlite::Result<bool> {
        for job in jobs.iter().filter(|job| job.writes()) {
            if self.begun.contains(&job.namespace) {
                continue;
            }
            let sql = "SELECT EXISTS (SELECT 1 FROM baton_namespaces WHERE namespace = ?1)";
            let mut statement = connection.conn.prepare_cached(sql)?;
            if !statement.query_row([job.namespace.as_str()], |row| row.get::<_, bool>(0))? {
                return Ok(true);
            }
            self.begun.insert(job.namespace.clone());
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
        if found > self.lineage {
            // What was known of an older line of history is not known of this one.
            self.begun.clear();
        }
        self.lineage = found;
        Ok(Lineage(found))
    }
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
        let (namespace, at) = (&job.namespace, machine.stamp());
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

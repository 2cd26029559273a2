//! A batch of jobs as one transaction: one commit, however many jobs.

use std::collections::BTreeSet;

use baton_core::ids::{Lineage, Namespace};
use baton_core::protocol::{BeatReply, Reply};
use baton_store::{Answer, StoreError};

use super::boot::Machine;
use super::connect::Link;
use super::error::{Fault, Refusal, uncommitted};
use super::lineage;
use super::step::Step;
use super::worker::Job;
use crate::driver::SeenLeases;

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
        link: &mut Link,
        machine: &Machine,
        jobs: &[Job],
    ) -> (Answers, bool) {
        if jobs.is_empty() {
            return (Vec::new(), false);
        }
        match self.attempt(link, machine, jobs) {
            Ok(done) => done,
            Err(error) => {
                roll_back(link);
                (jobs.iter().map(|_| Err(error.clone())).collect(), false)
            }
        }
    }

    fn attempt(
        &mut self,
        link: &mut Link,
        machine: &Machine,
        jobs: &[Job],
    ) -> Result<(Answers, bool), StoreError> {
        let writes = jobs.iter().any(Job::writes);
        if writes {
            let durably = self.begins_one(link, jobs).map_err(undone)?;
            link.sync_fully(durably).map_err(undone)?;
        }
        let lineage = self.begin(link, machine, writes)?;
        let answers = perform_all(link, machine, lineage, jobs)?;
        let seen = |namespace| self.leases.of(namespace);
        let ahead = |(namespace, reply)| seen(namespace).is_some_and(|it| it.is_ahead_of(reply));
        if beats(jobs, &answers).any(ahead) {
            // Nothing of this is kept. All is done again, in the lineage that begins now.
            roll_back(link);
            self.lineage = lineage.0.saturating_add(1);
            return self.attempt(link, machine, jobs);
        }
        run(link, "COMMIT").map_err(|error| uncommitted(&error))?;
        beats(jobs, &answers).for_each(|(namespace, reply)| self.leases.note(namespace, reply));
        Ok((still_there(link, jobs, answers), writes))
    }

    /// Will a namespace begin? That must outlast a loss of power: the leap of its epochs is counted
    /// from there.
    fn begins_one(&mut self, link: &Link, jobs: &[Job]) -> rusqlite::Result<bool> {
        for job in jobs.iter().filter(|job| job.writes()) {
            if self.begun.contains(&job.namespace) {
                continue;
            }
            let sql = "SELECT EXISTS (SELECT 1 FROM baton_namespaces WHERE namespace = ?1)";
            let mut statement = link.conn.prepare_cached(sql)?;
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
        link: &mut Link,
        machine: &Machine,
        writes: bool,
    ) -> Result<Lineage, StoreError> {
        let begin = if writes { "BEGIN IMMEDIATE" } else { "BEGIN" };
        run(link, begin).map_err(undone)?;
        let mut found = lineage::current(&link.conn).map_err(undone)?;
        if found < self.lineage {
            // The content went back, though the file is the same.
            roll_back(link);
            lineage::settle(link, machine, self.lineage).map_err(|refusal| refusal.in_use())?;
            run(link, begin).map_err(undone)?;
            found = lineage::current(&link.conn).map_err(undone)?;
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
    link: &Link,
    machine: &Machine,
    lineage: Lineage,
    jobs: &[Job],
) -> Result<Answers, StoreError> {
    let mut answers = Vec::with_capacity(jobs.len());
    for job in jobs {
        let step = Step {
            conn: &link.conn,
            namespace: &job.namespace,
            at: machine.stamp(),
            machine,
            lineage,
            boots: &link.boots,
        };
        answers.push(perform(&step, job)?);
    }
    Ok(answers)
}

/// One job, between savepoints: an error undoes it and nothing else. The outer error undoes all.
fn perform(step: &Step<'_>, job: &Job) -> Result<Result<Answer, StoreError>, StoreError> {
    let run = |sql| step.conn.prepare_cached(sql)?.execute([]).map(drop);
    let undone = |error| Fault::Sql(error).undone();
    if !job.writes() {
        return Ok(step.perform(&job.call).map_err(|fault| fault.undone()));
    }
    run("SAVEPOINT job").map_err(undone)?;
    let answer = step.perform(&job.call);
    if let Err(fault) = &answer {
        // Some errors make SQLite give the whole transaction up.
        if step.conn.is_autocommit() {
            return Err(fault.undone());
        }
        run("ROLLBACK TO job").map_err(undone)?;
    }
    run("RELEASE job").map_err(undone)?;
    Ok(answer.map_err(|fault| fault.undone()))
}

/// A write into a file that lost its name meanwhile may be lost.
fn still_there(link: &Link, jobs: &[Job], answers: Answers) -> Answers {
    let detail = match link.is_current() {
        Ok(true) => return answers,
        Ok(false) => format!("{} was replaced meanwhile", link.path.display()),
        Err(Refusal::Missing { path }) => format!("{} was removed meanwhile", path.display()),
        Err(refusal) => refusal.to_string(),
    };
    let judge = |(job, answer): (&Job, Result<Answer, StoreError>)| match answer {
        Ok(_) if job.writes() => Err(StoreError::Unknown { detail: detail.clone() }),
        Ok(_) => Err(StoreError::Unavailable { detail: detail.clone() }),
        failed => failed,
    };
    jobs.iter().zip(answers).map(judge).collect()
}

fn run(link: &Link, sql: &str) -> rusqlite::Result<()> {
    link.conn.prepare_cached(sql)?.execute([]).map(drop)
}

fn undone(error: rusqlite::Error) -> StoreError {
    Fault::Sql(error).undone()
}

/// Ends a transaction that failed. Whether that worked shows in the connection's state.
fn roll_back(link: &Link) {
    if !link.conn.is_autocommit() {
        let _ = run(link, "ROLLBACK");
    }
}

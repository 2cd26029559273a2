//! Waiting for the work of a key: until another node has done it, or this one is to.

use std::time::Duration;

use baton_core::schedule::on_crash::OnCrash;
use baton_core::schedule::once::{
    OnceCause, OnceEnd, OnceFailure, OnceLeader, OnceRecord, OnceState, OnceStep, OnceSuccess,
    end_after, ended_attempts, step,
};
use baton_core::settings::{Preempt, Settings};
use baton_core::time::{Moment, whole_ms};
use baton_store::clock::{Clock, SystemClock};

use super::error::OnceError;
use super::records::{FoundRecord, OnceRecords, Written};
use super::run::OnceRun;
use crate::leadership::Leadership;
use crate::node::Node;

/// Time between two looks of a node that waits. Leadership that comes to it is noticed at once.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Time before a leader asks a store again that did not answer.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The settings of a node that takes part in the election of a key: it stands for election at once,
/// and no better node takes its term.
#[must_use]
pub fn settings(settings: Settings) -> Settings {
    settings.tune(|it| {
        it.skip_cold_start = true;
        it.startup_jitter_min = Duration::ZERO;
        it.startup_jitter_max = Duration::ZERO;
        it.preempt = Preempt::Never;
    })
}

/// A node's part in the election of a key: it waits, and runs the work if that falls to it.
///
/// Call [`next`](Self::next) until it says [`OnceTurn::Ended`]. A run that it hands out is given
/// back by [`OnceAttempt::finish`], or dropped: then it counts as cut off.
#[derive(Debug)]
pub struct OnceElection {
    node: Node,
    records: OnceRecords,
    /// How many attempts had ended when this process began to wait.
    known: u32,
    on_crash: OnCrash,
}

/// What a node that waited is to do.
#[derive(Debug)]
pub enum OnceTurn {
    /// Run the work: its claim is written.
    Run(OnceAttempt),
    /// Nothing: it has ended.
    Ended(OnceEnd),
}

/// A run that this process is to carry out.
#[derive(Debug)]
pub struct OnceAttempt {
    run: OnceRun,
    records: OnceRecords,
    claim: OnceRecord,
    version: u64,
    began: Moment,
}

impl OnceElection {
    /// Takes part with a node in the namespace of the key, which began to wait when the record was
    /// as it was `found`.
    pub fn new(node: Node, records: OnceRecords, found: &FoundRecord, on_crash: OnCrash) -> Self {
        let known = ended_attempts(found.record.as_ref());
        Self { node, records, known, on_crash }
    }

    /// Waits until the work has ended, or this process is to run it. Cancel safe, also after a run
    /// was handed out and given back.
    pub async fn next(&self) -> Result<OnceTurn, OnceError> {
        loop {
            let turn = tokio::select! {
                biased;
                term = self.node.leadership() => self.lead(term?).await?,
                () = SystemClock.sleep(LOOK_EVERY) => self.look().await?,
            };
            if let Some(turn) = turn {
                return Ok(turn);
            }
        }
    }

    /// A look at the record, which takes no longer than a request may.
    async fn look(&self) -> Result<Option<OnceTurn>, OnceError> {
        let within = self.node.settings().request_timeout;
        let found = tokio::select! {
            found = self.records.read() => found,
            () = SystemClock.sleep(within) => return Ok(None),
        };
        match found {
            Ok(found) => Ok(end_after(found.record.as_ref(), self.known).map(OnceTurn::Ended)),
            Err(problem) if problem.is_transient() => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// What a leader does before anything else: it reads the record, and claims the next attempt if
    /// there is one. `None` if the term was lost before that.
    async fn lead(&self, term: Leadership) -> Result<Option<OnceTurn>, OnceError> {
        loop {
            let tried = tokio::select! {
                biased;
                _ = term.lost() => return Ok(None),
                tried = self.take_step(&term) => tried,
            };
            match tried {
                Ok(None) => {}
                Err(problem) if problem.is_transient() => {}
                done => return done,
            }
            tokio::select! {
                biased;
                _ = term.lost() => return Ok(None),
                () = SystemClock.sleep(AGAIN_AFTER) => {}
            }
        }
    }

    /// One look at the record, and the write that it calls for. `None` if it has to be read again.
    async fn take_step(&self, term: &Leadership) -> Result<Option<OnceTurn>, OnceError> {
        let found = self.records.read().await?;
        let leader = OnceLeader {
            epoch: term.epoch(),
            node: self.node.id().clone(),
            now_ms: SystemClock.wall_ms(),
        };
        let step = step(found.record.as_ref(), leader, self.known, self.on_crash);
        let (claim, version) = match (step, found.record) {
            (OnceStep::End(end), _) => return Ok(Some(OnceTurn::Ended(end))),
            // That a later epoch exists is soon known to the node too.
            (OnceStep::TermOver, _) | (OnceStep::Run, None) => return Ok(None),
            (OnceStep::Run, Some(own)) => (own, found.version),
            (OnceStep::Abandon(record), _) => {
                let written = self.records.write(term, &record, found.version).await?;
                let end = end_after(Some(&record), self.known);
                let is_written = matches!(written, Written::Yes(_));
                return Ok(end.filter(|_| is_written).map(OnceTurn::Ended));
            }
            (OnceStep::Claim(record), _) => {
                match self.records.write(term, &record, found.version).await? {
                    Written::Yes(version) => (record, version),
                    Written::Unsure | Written::Fenced => return Ok(None),
                }
            }
        };
        let run = OnceRun::new(self.records.key().clone(), claim.attempt, term.clone());
        let (records, began) = (self.records.clone(), SystemClock.now());
        Ok(Some(OnceTurn::Run(OnceAttempt { run, records, claim, version, began })))
    }
}

impl OnceAttempt {
    /// What the work is told.
    pub fn run(&self) -> &OnceRun {
        &self.run
    }

    /// Records how the run ended. False if it could not be recorded while the term lasted: then the
    /// run counts as cut off, and another one may follow.
    pub async fn finish(&self, result: Result<(), OnceCause>) -> Result<bool, OnceError> {
        let (term, finished_ms) = (self.run.term(), SystemClock.wall_ms());
        let OnceState::Running(running) = &self.claim.state else { return Ok(false) };
        let node = running.node.clone();
        let state = match result {
            Ok(()) => {
                let took_ms = whole_ms(SystemClock.now().since(self.began));
                OnceState::Succeeded(OnceSuccess { node, finished_ms, took_ms })
            }
            Err(cause) => {
                let attempt = self.claim.attempt;
                OnceState::Failed(OnceFailure { attempt, node, finished_ms, cause })
            }
        };
        self.records.write_end(term, &self.claim.ended(state), self.version).await
    }

    /// Gives the term up, so that what comes next is decided in another one. For a run that was cut
    /// off within its term.
    pub async fn give_up(self) {
        self.run.term().resign();
        self.run.term().lost().await;
    }
}

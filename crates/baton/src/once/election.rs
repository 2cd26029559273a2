//! Waiting for the work of a key: until another node has done it, or this one is to.

use std::sync::Mutex;
use std::time::Duration;

use baton_core::schedule::on_crash::OnCrash;
use baton_core::schedule::once::{
    FoundRecord, OnceAction, OnceCause, OnceClaim, OnceEnd, OnceTerm, OnceWait,
};
use baton_core::settings::{Preempt, Settings};
use baton_core::time::{Moment, whole_ms};
use baton_store::clock::{Clock, SystemClock};

use super::error::OnceError;
use super::records::OnceRecords;
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
    wait: Mutex<OnceWait>,
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
    claim: OnceClaim,
    began: Moment,
}

impl OnceElection {
    /// Takes part with a node in the namespace of the key, which began to wait when the record was
    /// as it was `found`.
    pub fn new(node: Node, records: OnceRecords, found: &FoundRecord, on_crash: OnCrash) -> Self {
        let wait = Mutex::new(OnceWait::since(found.record.as_ref(), on_crash));
        Self { node, records, wait }
    }

    fn wait(&self) -> OnceWait {
        *self.wait.lock().expect("no holder panics")
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
            Ok(found) => Ok(self.wait().look(found.record.as_ref()).map(OnceTurn::Ended)),
            Err(problem) if problem.is_transient() => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// What a leader does before anything else: it reads the record, and claims the next attempt if
    /// there is one. `None` if the term was lost before that.
    async fn lead(&self, term: Leadership) -> Result<Option<OnceTurn>, OnceError> {
        let mut deciding = OnceTerm::new(self.wait(), term.epoch(), self.node.id().clone());
        let mut action = OnceAction::Read;
        loop {
            let answered = tokio::select! {
                biased;
                _ = term.lost() => return Ok(None),
                answered = self.ask(&mut deciding, &action, &term) => answered,
            };
            match answered {
                Ok(OnceAction::Run(claim)) => return Ok(Some(self.hand_out(claim, term))),
                Ok(OnceAction::End(end)) => return Ok(Some(OnceTurn::Ended(end))),
                Ok(OnceAction::Resign) => {
                    term.resign();
                    term.lost().await;
                    return Ok(None);
                }
                Ok(next @ OnceAction::Write(_)) => {
                    action = next;
                    continue;
                }
                Ok(OnceAction::Read) => {}
                Err(problem) if problem.is_transient() => {}
                Err(problem) => return Err(problem),
            }
            action = OnceAction::Read;
            tokio::select! {
                biased;
                _ = term.lost() => return Ok(None),
                () = SystemClock.sleep(AGAIN_AFTER) => {}
            }
        }
    }

    /// One request, and what follows from its answer.
    async fn ask(
        &self,
        deciding: &mut OnceTerm,
        action: &OnceAction,
        term: &Leadership,
    ) -> Result<OnceAction, OnceError> {
        if let OnceAction::Write(write) = action {
            return Ok(deciding.handle_written(self.records.write(term, write).await?));
        }
        Ok(deciding.handle_read(self.records.read().await?, SystemClock.wall_ms()))
    }

    fn hand_out(&self, claim: OnceClaim, term: Leadership) -> OnceTurn {
        self.wait.lock().expect("no holder panics").handed_out(term.epoch());
        let run = OnceRun::new(self.records.key().clone(), claim.attempt(), term);
        let (records, began) = (self.records.clone(), SystemClock.now());
        OnceTurn::Run(OnceAttempt { run, records, claim, began })
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
        let finished_ms = SystemClock.wall_ms();
        let ending = match result {
            Ok(()) => {
                let took_ms = whole_ms(SystemClock.now().since(self.began));
                self.claim.succeeded(finished_ms, took_ms)
            }
            Err(cause) => self.claim.failed(finished_ms, cause),
        };
        self.records.write_end(self.run.term(), &ending).await
    }

    /// Gives the term up, so that what comes next is decided in another one. For a run that was cut
    /// off within its term.
    pub async fn give_up(self) {
        self.run.term().resign();
        self.run.term().lost().await;
    }
}

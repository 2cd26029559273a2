//! Work that is done once among all instances of a service, such as a migration at a deploy.
//!
//! ```text
//!   Node::once ──► OnceRecords: done already? ──► DoneBefore
//!                     │ no
//!                     ▼
//!                  a node in the key's namespace ──► OnceElection ──┬─► another runs it: wait
//!                     claim, then work, then its end is recorded ◄──┴─► leads: reads the record
//! ```
//!
//! The record says what is known (`baton_core::schedule::once` has its rules), the lease says which
//! node may act on it. Success is recorded after the work has ended: a crash in between leaves a
//! run of which it is not known how far it came, and [`OnCrash`] says what becomes of that.

mod election;
mod error;
mod own_nodes;
mod records;
mod run;

use std::pin::pin;
use std::time::Duration;

use baton_core::ids::NodeId;
use baton_core::time::whole_ms;
use baton_store::clock::{Clock, SystemClock};

pub use baton_core::schedule::on_crash::OnCrash;
pub use baton_core::schedule::once::{
    FoundRecord, OnceCause, OnceEnd, OnceFailure, OnceRecord, OnceRunning, OnceState, OnceSuccess,
};
pub use baton_core::schedule::once_key::{InvalidKey, OnceKey};
pub use election::{OnceAttempt, OnceElection, OnceTurn, settings};
pub use error::OnceError;
pub(crate) use own_nodes::OwnNodes;
pub use records::OnceRecords;
pub use run::OnceRun;

use crate::node::Node;
use crate::plugin::PluginError;

/// Work that is to be done once: its key, and what becomes of a run that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it does nothing until it is given to `Node::once`"]
pub struct Once {
    key: String,
    on_crash: OnCrash,
    timeout: Option<Duration>,
}

impl Once {
    /// The work of this key: letters, digits, `.`, `_`, `:` and `-`. Together with the node's
    /// namespace it has at most 122 bytes.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), on_crash: OnCrash::default(), timeout: None }
    }

    /// What becomes of a run that was cut off: [`OnCrash::Retry`] unless given. Every process has
    /// to say the same, for the one that leads next decides.
    pub fn on_crash(mut self, on_crash: OnCrash) -> Self {
        self.on_crash = on_crash;
        self
    }

    /// The time limit of the whole call. There is none unless given.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }
}

impl<T: Into<String>> From<T> for Once {
    fn from(key: T) -> Self {
        Self::new(key)
    }
}

/// The work is done, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnceOutcome {
    /// This call did it.
    Ran,
    /// It was done before this call.
    DoneBefore,
    /// Another node did it while this call waited, or another call of this one.
    DoneByOther {
        /// The node.
        node: NodeId,
    },
}

/// How the work of this process ended.
enum WorkEnd {
    Done(Result<(), PluginError>),
    TimedOut,
    CutOff,
}

impl Node {
    /// Does work once among all processes that call this with the same key: one runs it, the others
    /// wait for it. Returns once the work is done; a success is remembered for ever, and every
    /// later call returns at once.
    ///
    /// A failure ends the calls that waited with [`OnceError::Failed`]; a later call runs the work
    /// again. A run whose process died or lost its term was cut off: by default another process
    /// runs it again (at least once), with [`OnCrash::Skip`] none does (at most once).
    ///
    /// Each key has an election of its own, in which a node [beside](Node::beside) this one takes
    /// part as long as the call lasts. Work that is told to stop ([`Leadership::lost`]) is dropped
    /// at its next `.await` by the deadline of its term, and when this call is dropped.
    ///
    /// ```no_run
    /// # async fn example(node: baton::Node) -> Result<(), baton::once::OnceError> {
    /// let outcome = node.once("migrate-42", |run| async move {
    ///     println!("attempt {} in epoch {}", run.attempt(), run.term().epoch());
    ///     Ok(())
    /// });
    /// println!("{:?}", outcome.await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Leadership::lost`]: crate::Leadership::lost
    pub async fn once<W, F>(&self, once: impl Into<Once>, work: W) -> Result<OnceOutcome, OnceError>
    where
        W: FnMut(OnceRun) -> F,
        F: Future<Output = Result<(), PluginError>>,
    {
        let once = once.into();
        let key = OnceKey::new(self.namespace(), &once.key)?;
        let call = Call { base: self, key, once };
        call.carry_out(work).await
    }
}

struct Call<'a> {
    base: &'a Node,
    key: OnceKey,
    once: Once,
}

impl Call<'_> {
    async fn carry_out<W, F>(self, work: W) -> Result<OnceOutcome, OnceError>
    where
        W: FnMut(OnceRun) -> F,
        F: Future<Output = Result<(), PluginError>>,
    {
        let mut limit = pin!(reached(self.once.timeout));
        let records = OnceRecords::new(self.base.shared.records.clone(), self.key.clone());
        let found = tokio::select! {
            biased;
            found = records.read_patiently(|_| {}) => found?,
            () = &mut limit => return Err(self.timed_out()),
        };
        if let Some(OnceState::Succeeded(_)) = found.record.as_ref().map(|record| &record.state) {
            return Ok(OnceOutcome::DoneBefore);
        }
        let namespace = self.key.namespace();
        let build = || {
            let builder = self.base.beside(namespace.clone());
            builder.settings(settings(self.base.settings())).build()
        };
        let node = tokio::select! {
            biased;
            node = self.base.host.once_nodes.start(namespace, build) => node?,
            () = &mut limit => return Err(self.timed_out()),
        };
        let election = OnceElection::new(node.clone(), records, &found, self.once.on_crash);
        let outcome = self.follow(&election, work, limit).await;
        // The others need not wait for a lease to run out.
        node.leave().await;
        outcome
    }

    /// Waits, and runs the work whenever that falls to this process.
    async fn follow<W, F>(
        &self,
        election: &OnceElection,
        mut work: W,
        mut limit: std::pin::Pin<&mut impl Future<Output = ()>>,
    ) -> Result<OnceOutcome, OnceError>
    where
        W: FnMut(OnceRun) -> F,
        F: Future<Output = Result<(), PluginError>>,
    {
        loop {
            let turn = tokio::select! {
                biased;
                turn = election.next() => turn?,
                () = &mut limit => return Err(self.timed_out()),
            };
            let turn = match turn {
                OnceTurn::Run(turn) => turn,
                OnceTurn::Ended(OnceEnd::Succeeded(success)) => {
                    return Ok(OnceOutcome::DoneByOther { node: success.node });
                }
                OnceTurn::Ended(OnceEnd::Failed(failure)) => {
                    return Err(OnceError::Failed { key: self.key.clone(), failure });
                }
            };
            match run_work(turn.run(), &mut work, limit.as_mut()).await {
                WorkEnd::Done(Ok(())) => {
                    if turn.finish(Ok(())).await? {
                        return Ok(OnceOutcome::Ran);
                    }
                    // Done, but no node knows it: it counts as cut off.
                }
                WorkEnd::Done(Err(problem)) => {
                    turn.finish(Err(OnceCause::error(&problem.to_string()))).await?;
                    return Err(OnceError::Work { key: self.key.clone(), problem });
                }
                WorkEnd::TimedOut => {
                    let limit_ms = self.once.timeout.map_or(0, whole_ms);
                    turn.finish(Err(OnceCause::TimedOut { limit_ms })).await?;
                    return Err(self.timed_out());
                }
                WorkEnd::CutOff => {}
            }
            turn.give_up().await;
        }
    }

    fn timed_out(&self) -> OnceError {
        let limit = self.once.timeout.unwrap_or_default();
        OnceError::TimedOut { key: self.key.clone(), limit }
    }
}

/// Runs the work until it ends, or the limit is reached, or its term has no time left.
async fn run_work<W, F>(
    run: &OnceRun,
    work: &mut W,
    mut limit: std::pin::Pin<&mut impl Future<Output = ()>>,
) -> WorkEnd
where
    W: FnMut(OnceRun) -> F,
    F: Future<Output = Result<(), PluginError>>,
{
    // Between the claim and this the term may have ended.
    if !run.term().may_start_work() {
        return WorkEnd::CutOff;
    }
    let mut working = pin!(work(run.clone()));
    let stopped = async {
        run.term().lost().await;
        SystemClock.sleep(run.term().stop_by().since(SystemClock.now())).await;
    };
    tokio::select! {
        biased;
        () = stopped => WorkEnd::CutOff,
        done = &mut working => WorkEnd::Done(done),
        () = &mut limit => WorkEnd::TimedOut,
    }
}

/// Waits for this long; for ever if there is no limit.
async fn reached(limit: Option<Duration>) {
    match limit {
        Some(limit) => SystemClock.sleep(limit).await,
        None => std::future::pending().await,
    }
}

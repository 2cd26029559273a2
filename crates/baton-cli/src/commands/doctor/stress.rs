//! `--stress`: many handles race for one thing, and exactly one may get it. Finds stores whose
//! conditions are looked at, but not in the same step as the write.

use std::sync::Arc;

use baton_core::ids::{BootId, Namespace, NodeId};
use baton_core::protocol::{LeaseIntent, NodeRecord, Registration};
use baton_store::{Document, Precondition, Store, StoreError, WriteOutcome};
use tokio::task::JoinSet;

use super::Finding;
use super::store::failed;
use super::trial::{NAMESPACE, observer, observer_beat};
use crate::config::StoreUrl;
use crate::error::CommandError;
use crate::open_store;

/// Number of clients that compete.
const RACERS: usize = 8;

/// Number of rounds.
const ROUNDS: u64 = 50;

/// A document in the namespace of the trials.
const DOCUMENT: &str = "stress";

/// Races for a record that is not there, and for one that is.
pub async fn examine(url: &StoreUrl) -> Vec<Finding> {
    match StressTest::new(url).await {
        Ok(race) => vec![
            race.rounds("creates", "a record that was not there", StressTest::creation).await,
            race.rounds("updates", "a record that all saw at one version", StressTest::update)
                .await,
        ],
        Err(problem) => vec![failed("stress", &problem)],
    }
}

/// The number of winners of one round.
type RoundResult = Result<usize, StoreError>;

struct StressTest {
    handles: Vec<Arc<dyn Store>>,
    namespace: Namespace,
}

impl StressTest {
    async fn new(url: &StoreUrl) -> Result<Self, CommandError> {
        let mut handles = Vec::new();
        for _ in 0..RACERS {
            handles.push(open_store::open_existing(url).await?);
        }
        let namespace = Namespace::new(NAMESPACE).expect("letters and a dash");
        Ok(Self { handles, namespace })
    }

    async fn rounds(
        &self,
        check: &'static str,
        what: &str,
        round: impl AsyncFn(&Self) -> RoundResult,
    ) -> Finding {
        for number in 1..=ROUNDS {
            match round(self).await {
                Ok(1) => {}
                Ok(winners) => {
                    let detail = format!("{winners} of {RACERS} won {what}, in round {number}");
                    let remedy = "this store cannot be trusted with a lease: its conditional \
                                  writes are not atomic";
                    return Finding::fail(check, detail, remedy);
                }
                Err(problem) => return failed(check, &problem),
            }
        }
        let detail = format!("{ROUNDS} races of {RACERS} for {what}: one winner each");
        Finding::ok(check, detail)
    }

    /// All of them register the same new node id, each as another process.
    async fn creation(&self) -> RoundResult {
        let contended = NodeId::new("stress").expect("letters alone");
        let mut racers = JoinSet::new();
        for store in &self.handles {
            let (store, namespace) = (Arc::clone(store), self.namespace.clone());
            let boot = baton::fresh_boot()
                .map_err(|problem| StoreError::Refused { detail: problem.to_string() })?;
            let record = NodeRecord { beat: 1, ..observer(contended.clone(), boot) };
            let beat = observer_beat(record, LeaseIntent::Observe);
            racers.spawn(async move {
                let reply = store.beat(&namespace, beat).await?;
                let won = reply.registration == Registration::Registered;
                Ok::<_, StoreError>(won.then_some(boot))
            });
        }
        let winners: Vec<BootId> = all(racers).await?.into_iter().flatten().collect();
        for boot in &winners {
            self.handles[0].leave(&self.namespace, &contended, *boot).await?;
        }
        Ok(winners.len())
    }

    /// All of them write a document that they saw at the same version.
    async fn update(&self) -> RoundResult {
        let found = self.handles[0].read_document(&self.namespace, DOCUMENT).await?;
        let expected = found.map_or(Precondition::Absent, |Document { version, .. }| {
            Precondition::Version(version)
        });
        let mut racers = JoinSet::new();
        for (racer, store) in self.handles.iter().enumerate() {
            let (store, namespace) = (Arc::clone(store), self.namespace.clone());
            racers.spawn(async move {
                let body = racer.to_string().into_bytes();
                store.write_document(&namespace, DOCUMENT, body, expected, None).await
            });
        }
        let outcomes = all(racers).await?;
        Ok(outcomes.iter().filter(|it| matches!(it, WriteOutcome::Written(_))).count())
    }
}

async fn all<T: 'static>(mut racers: JoinSet<Result<T, StoreError>>) -> Result<Vec<T>, StoreError> {
    let mut outcomes = Vec::new();
    while let Some(outcome) = racers.join_next().await {
        let ended = |_| StoreError::Unknown { detail: "a racer's task ended early".to_owned() };
        outcomes.push(outcome.map_err(ended)??);
    }
    Ok(outcomes)
}

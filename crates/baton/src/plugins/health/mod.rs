//! Cluster health: the leader judges how the cluster does, and any process can read it.
//!
//! ```text
//!   store ── look ──► Facts ── baton_core::health::judge ──► Health
//!                                                              ├──► document baton:health, fenced
//!                                                              └──► event cluster:health-changed
//!   baton health ── look_closely ──► the same judge, also when no node leads
//! ```

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::Event;
use baton_core::ids::Namespace;
use baton_core::protocol::{Expiry, Failure, LeaseSnapshot};
use baton_core::settings::Settings;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Document, Precondition, Store, StoreError};
use serde::Deserialize;

pub use baton_core::health::{
    Counts, FORMAT, Facts, Health, LeaderHealth, Limits, Liveness, NodeHealth, PluginNote, Reason,
    Role, Silences, StoreHealth, Verdict, judge,
};

use crate::leadership::Leadership;
use crate::plugin::{self, Plugin, PluginError, RestartPolicy};

/// The document that holds the last verdict.
pub const DOCUMENT: &str = "baton:health";

/// The largest numbers of reasons and of nodes in the document, which stays small in any cluster.
const REASONS_MAX: usize = 32;
const NODES_MAX: usize = 256;

const REASONS_TOLD_MAX: usize = 8;

/// The plugin: judges every 30 s, publishes what it finds, and tells when the verdict changes.
///
/// A new leader waits two beats before it looks, so that every node has been heard.
#[derive(Debug)]
pub struct ClusterHealth {
    every: Duration,
    candidates_min: Option<usize>,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    last_verdict: Option<Verdict>,
    silences: Silences,
}

impl Default for ClusterHealth {
    fn default() -> Self {
        let every = Duration::from_secs(30);
        Self { every, candidates_min: None, memory: Mutex::default() }
    }
}

impl ClusterHealth {
    /// Judges this often instead.
    #[must_use]
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// How many live nodes that may lead are enough, the leader among them; 2 unless given.
    #[must_use]
    pub fn candidates_min(mut self, count: usize) -> Self {
        self.candidates_min = Some(count);
        self
    }

    fn remember<T>(&self, change: impl FnOnce(&mut Memory) -> T) -> T {
        change(&mut self.memory.lock().expect("no holder panics"))
    }

    async fn judge_and_publish(&self, term: &Leadership) -> Result<(), StoreError> {
        let shared = &term.shared;
        let mut limits = Limits::of(&shared.settings);
        limits.candidates_min = self.candidates_min.unwrap_or(limits.candidates_min);
        let mut facts = look(&*shared.store, &shared.namespace, &limits).await?;
        let now = SystemClock.now();
        self.remember(|memory| memory.silences.fill_in(now, &mut facts.members));
        let health = judge(&facts, &limits).shortened(REASONS_MAX, NODES_MAX);
        let body = serde_json::to_vec(&health).expect("plain data has a JSON form");
        // Fenced: the term is over, and its successor has a verdict of its own.
        term.write_document(DOCUMENT, body, Precondition::Any).await?;
        let verdict = health.verdict;
        let before = self.remember(|memory| memory.last_verdict.replace(verdict));
        if before.unwrap_or(Verdict::Healthy) != verdict {
            let mut reasons = health.reasons;
            reasons.truncate(REASONS_TOLD_MAX);
            shared.events.send(Event::HealthChanged { verdict, reasons });
        }
        Ok(())
    }
}

#[async_trait]
impl Plugin for ClusterHealth {
    fn name(&self) -> &str {
        "health"
    }

    fn work_interval(&self) -> Duration {
        self.every
    }

    /// Two beats, so that every live node has been heard.
    fn first_work_after(&self, settings: &Settings) -> Duration {
        Limits::of(settings).two_beats()
    }

    /// It only reports: no node hands over because of it.
    fn restart_policy(&self) -> RestartPolicy {
        RestartPolicy { limit: u32::MAX, ..RestartPolicy::default() }
    }

    async fn on_become_coordinator(&self, term: &Leadership) -> Result<(), PluginError> {
        // What the last leader told is not told again.
        let shared = &term.shared;
        let last = published(&*shared.store, &shared.namespace).await.ok().flatten();
        let last_verdict = last.map(|health| health.verdict);
        self.remember(|memory| *memory = Memory { last_verdict, ..Memory::default() });
        Ok(())
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        if !term.shared.settings.enabled {
            // A node that leads alone has no other node to judge, and no store to be judged.
            return Ok(());
        }
        match self.judge_and_publish(term).await {
            // The node itself tells of a store that is away, and there is nowhere to publish.
            Err(problem) if problem.failure() != Failure::Rejected => Ok(()),
            done => done.map_err(PluginError::from),
        }
    }
}

/// The last verdict that a leader published; `None` if there is none that can be read.
pub async fn published(
    store: &dyn Store,
    namespace: &Namespace,
) -> Result<Option<Health>, StoreError> {
    let found = store.read_document(namespace, DOCUMENT).await?;
    Ok(found.and_then(|document| serde_json::from_slice(&document.body).ok()))
}

/// The smallest number of terms that are read to count the changes of leader. More are read if the
/// threshold of too many changes is higher.
const TERMS_MIN: usize = 32;

/// Looks once. Takes no part, and changes nothing.
pub async fn look(
    store: &dyn Store,
    namespace: &Namespace,
    limits: &Limits,
) -> Result<Facts, StoreError> {
    let mut watch = Stopwatch::default();
    let seen = watch.time(store.inspect(namespace)).await?;
    let members = watch.time(store.members(namespace)).await?;
    let flaps = usize::try_from(limits.flap_threshold).unwrap_or(usize::MAX);
    let terms = flaps.saturating_add(2).clamp(TERMS_MIN, 1_000);
    let terms = watch.time(store.history(namespace, terms)).await?;
    let plugins = watch.time(store.read_document(namespace, plugin::DOCUMENT)).await?;
    let epoch = seen.lease.as_ref().map_or(0, |lease| lease.version.epoch.0);
    Ok(Facts {
        at_ms: SystemClock.wall_ms(),
        lease: seen.lease,
        lease_unchanged_for: Duration::ZERO,
        lineage: seen.lineage,
        view: seen.view,
        members,
        terms,
        store_took: watch.slowest,
        plugins: plugins.map_or_else(Vec::new, |document| notes(&document, epoch)),
    })
}

/// Looks, and where only observers can time the lease, watches it until it is renewed or has stood
/// still for longer than two beats.
pub async fn look_closely(
    store: &dyn Store,
    namespace: &Namespace,
    limits: &Limits,
) -> Result<Facts, StoreError> {
    let mut facts = look(store, namespace, limits).await?;
    let observed = |lease: &LeaseSnapshot| lease.expiry == Expiry::Observer;
    let Some(first) = facts.lease.clone().filter(|lease| lease.holder.is_some() && observed(lease))
    else {
        return Ok(facts);
    };
    let seen_at = SystemClock.now();
    let enough = limits.two_beats() + limits.request_timeout;
    while facts.lease_unchanged_for < enough {
        SystemClock.sleep(limits.heartbeat_interval / 4).await;
        let seen = store.inspect(namespace).await?;
        if seen.lease.as_ref().map(|lease| lease.version) != Some(first.version) {
            facts.lease_unchanged_for = Duration::ZERO;
            (facts.lease, facts.view) = (seen.lease, seen.view);
            break;
        }
        facts.lease_unchanged_for = SystemClock.now().since(seen_at);
    }
    Ok(facts)
}

/// Keeps the longest of several waits.
#[derive(Default)]
struct Stopwatch {
    slowest: Duration,
}

impl Stopwatch {
    async fn time<T>(&mut self, call: impl Future<Output = T>) -> T {
        let began = SystemClock.now();
        let done = call.await;
        self.slowest = self.slowest.max(SystemClock.now().since(began));
        done
    }
}

/// What the leader's plugins do. Whatever cannot be read, or is of a term that is over, counts
/// as not there.
fn notes(document: &Document, epoch: u64) -> Vec<PluginNote> {
    #[derive(Deserialize)]
    struct PluginReportDocument {
        epoch: u64,
        plugins: Vec<PluginNote>,
    }
    let written = serde_json::from_slice::<PluginReportDocument>(&document.body).ok();
    written
        .filter(|written| written.epoch == epoch)
        .map_or_else(Vec::new, |written| written.plugins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(body: &str, epoch: u64) -> Vec<String> {
        let document = Document { version: 1, body: body.as_bytes().to_vec() };
        notes(&document, epoch).into_iter().map(|note| note.name).collect()
    }

    #[test]
    fn what_plugins_do_is_read_leniently_and_only_of_this_term() {
        let plugin = r#"[{"name":"ttl","failures":2,"doing":"failing","runs":7}]"#;
        let whole = format!(r#"{{"node":"a","epoch":3,"plugins":{plugin}}}"#);
        assert_eq!(names(&whole, 3), ["ttl"]);
        assert_eq!(names(&whole, 4), [""; 0], "that term is over");
        assert_eq!(names("not JSON", 3), [""; 0]);
    }
}

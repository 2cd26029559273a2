//! Looking at a namespace: what the store says, and how long it took to say it.

use std::time::Duration;

use baton_core::health::{Facts, Limits, PluginNote};
use baton_core::ids::Namespace;
use baton_core::protocol::Expiry;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Document, Store, StoreError};
use serde::Deserialize;

/// Where the leader writes what its plugins do.
const PLUGINS: &str = "baton:plugins";

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
    let plugins = watch.time(store.read_document(namespace, PLUGINS)).await?;
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
    let observed = |lease: &baton_core::protocol::LeaseSnapshot| lease.expiry == Expiry::Observer;
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
    /// What of it is needed here.
    #[derive(Deserialize)]
    struct PluginReportDocument {
        epoch: u64,
        plugins: Vec<PluginNote>,
    }
    let told = serde_json::from_slice::<PluginReportDocument>(&document.body).ok();
    told.filter(|told| told.epoch == epoch).map_or_else(Vec::new, |told| told.plugins)
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

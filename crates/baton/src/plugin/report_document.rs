//! What the leader's plugins and services do, in a document that every process can read.
//!
//! ```text
//!   stats ── every minute, and a second after news ─► baton:plugins, fenced by the epoch
//!                                                        │
//!   the next term ◄── what was due when ─────────────────┴──► baton plugins
//! ```

use std::time::Duration;

use baton_core::ids::{Epoch, Namespace, NodeId};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Precondition, Store, StoreError};
use serde::{Deserialize, Serialize};

use super::stats::PluginReport;
use crate::shared::Shared;
use crate::term::Term;

pub(crate) const DOCUMENT: &str = "baton:plugins";

/// Written this often even if nothing is new.
const EVERY: Duration = Duration::from_secs(60);

/// How long news waits for more news.
const LINGER: Duration = Duration::from_secs(1);

/// What the plugins of the leader do, as it last wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PluginReportDocument {
    /// Who wrote it.
    pub node: NodeId,
    /// In which term.
    pub epoch: Epoch,
    /// When, in Unix milliseconds.
    pub at_ms: u64,
    /// The plugins, in the order they start.
    pub plugins: Vec<PluginReport>,
}

impl PluginReportDocument {
    /// The last one of a namespace; `None` if there is none, or one that cannot be read.
    pub async fn read(
        store: &dyn Store,
        namespace: &Namespace,
    ) -> Result<Option<Self>, StoreError> {
        let found = store.read_document(namespace, DOCUMENT).await?;
        Ok(found.and_then(|document| serde_json::from_slice(&document.body).ok()))
    }
}

/// Writes the document for as long as the term lasts. It is for people: a write that fails is made
/// up for by the next one.
pub(super) async fn publish_reports(shared: &Shared, term: &Term) {
    let began_ms = SystemClock.wall_ms();
    shared.plugins.more_than(0).await;
    take_over_schedule(shared, term, began_ms).await;
    let mut news = shared.plugins.news();
    loop {
        tokio::select! {
            biased;
            _ = news.changed() => SystemClock.sleep(LINGER).await,
            () = SystemClock.sleep(EVERY) => {}
        }
        news.mark_unchanged();
        if term.may_start(SystemClock.now()) {
            write(shared, term).await;
        }
    }
}

async fn write(shared: &Shared, term: &Term) {
    let document = PluginReportDocument {
        node: shared.id.clone(),
        epoch: term.epoch,
        at_ms: SystemClock.wall_ms(),
        plugins: shared.plugins.reports(),
    };
    let body = serde_json::to_vec(&document).expect("plain data has a JSON form");
    let fence = Some(term.epoch);
    let write =
        shared.store.write_document(&shared.namespace, DOCUMENT, body, Precondition::Any, fence);
    let _ = write.await;
}

/// What was due when the term before ended is due now. What its node wrote down may be a minute
/// old: all that came due while it led it ran itself.
async fn take_over_schedule(shared: &Shared, term: &Term, began_ms: u64) {
    let Ok(Some(last)) = PluginReportDocument::read(&*shared.store, &shared.namespace).await else {
        return;
    };
    let Ok(terms) = shared.store.history(&shared.namespace, 1).await else { return };
    let own = terms.first().filter(|newest| newest.epoch == term.epoch);
    let Some(gap_ms) = own.and_then(|own| own.gap_ms) else { return };
    let led_until_ms = began_ms.saturating_sub(gap_ms);
    for plugin in shared.plugins.from(0) {
        let before = last.plugins.iter().find(|report| report.name == plugin.registered.name);
        if let Some(at_ms) = before.and_then(|report| report.next_run_ms) {
            plugin.registered.stats.was_due(at_ms, led_until_ms);
        }
    }
}

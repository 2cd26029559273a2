//! A process that owns partitions for a bench: it counts its calls, and may write.
//!
//! ```text
//!   baton_cli: own ── a node ── partitions ──► Works ──► log: a file of its own
//!                      │                         └ writes: a document a partition, by
//!                      │                            compare-and-set with the token ──┐
//!                      └── two store handles ── calls: counted, at USR2 ─────────────┴► notes
//! ```
//!
//! USR1 drains the node, and the next one ends that; TERM lets it leave.

mod calls;
pub mod notes;
mod writes;

use std::sync::Arc;

use baton::{Namespace, Node};
use baton_cli::cluster::owners::{self, OwnerLog, OwnerSignals, Works};
use baton_store::clock::{Clock, SystemClock};
use tokio::signal::unix::{SignalKind, signal};

use super::options::Owner;
use crate::error::BenchError;
use calls::CallCounts;
pub use calls::CallTotals;
use notes::Note;
use writes::FencedWrites;

/// Owns partitions until SIGTERM.
pub async fn own(owner: &Owner) -> Result<(), BenchError> {
    let signals = OwnerSignals::listen()?;
    let asked = signal(SignalKind::user_defined2());
    let mut asked =
        asked.map_err(|problem| BenchError::File { path: "signals".into(), problem })?;
    let options = &owner.options;
    let works = Works::new(Arc::new(OwnerLog::create(&options.log)?));
    let notes = Arc::new(OwnerLog::create(&notes::beside(&options.log))?);
    let calls = CallCounts::default();
    let store = calls.of(baton_drivers::open(&options.store).await?);
    let mut node = Node::builder(store)
        .namespace(options.namespace.clone())
        .id(options.id.clone())
        .profile(options.profile);
    if !options.lists.is_empty() {
        let store = calls.of(baton_drivers::open(&options.store).await?);
        node = works.of_node(node, &options.lists).partition_store(store);
    }
    let is_writing = write(owner, &works, &notes).await?;
    let counts = async {
        while asked.recv().await.is_some() {
            let (at, totals) = (SystemClock.now(), calls.read());
            notes.note(&Note::Calls { at, totals });
        }
    };
    tokio::select! {
        left = owners::own(node, &works, signals) => left?,
        () = counts => {}
        () = is_writing => {}
    }
    Ok(())
}

/// The writes for partitions, if there are any.
async fn write(
    owner: &Owner,
    works: &Works,
    notes: &Arc<OwnerLog>,
) -> Result<impl Future<Output = ()>, BenchError> {
    let options = &owner.options;
    let writes = match owner.writes_every {
        Some(every) => Some(FencedWrites {
            store: baton_drivers::open(&options.store).await?,
            namespace: Namespace::new(&format!("{}-work", options.namespace))
                .expect("a plain name"),
            works: works.clone(),
            notes: notes.clone(),
            every,
        }),
        None => None,
    };
    Ok(async {
        match writes {
            Some(writes) => writes.run().await,
            None => std::future::pending().await,
        }
    })
}

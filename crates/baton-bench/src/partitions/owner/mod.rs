//! A process that owns partitions: a node with the library in it, which works and notes that.
//!
//! ```text
//!   node ── partitions ──► works: start, stop, still owned? ──► log: a file of its own
//!    │                       └ writes: a document a partition, by compare-and-set with the token
//!    └── two store handles ── calls: counted, and noted at USR2
//! ```
//!
//! USR1 drains the node, and the next one ends that; TERM lets it leave.

mod calls;
mod log;
mod works;
mod writes;

use std::sync::Arc;

use baton::partitions::partition_task;
use baton::{Namespace, Node, NodeBuilder, NodeId};
use baton_store::clock::{Clock, SystemClock};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::options::Owner;
use crate::error::BenchError;
use calls::CallCounts;
pub use calls::CallTotals;
pub use log::OwnerLine;
use log::OwnerLog;
use works::Works;
use writes::FencedWrites;

/// Owns partitions until SIGTERM.
pub async fn own(options: &Owner) -> Result<(), BenchError> {
    let listen = |kind: SignalKind| -> Result<Signal, BenchError> {
        signal(kind).map_err(|problem| BenchError::File { path: "signals".into(), problem })
    };
    let mut terminated = listen(SignalKind::terminate())?;
    let mut drained = listen(SignalKind::user_defined1())?;
    let mut asked = listen(SignalKind::user_defined2())?;
    let log = Arc::new(OwnerLog::create(&options.log)?);
    let calls = CallCounts::default();
    let works = Works::new(log.clone());
    let namespace = Namespace::new(&options.namespace).expect("a plain name");
    let id = NodeId::new(&options.id).expect("a plain name");
    let store = calls.of(baton_drivers::open(&options.store).await?);
    let mut node = Node::builder(store).namespace(namespace).id(id);
    node = node.profile(options.profile).runtime(tokio::runtime::Handle::current());
    if !options.lists.is_empty() {
        let at_work = works.clone();
        let handler = partition_task(move |owned| at_work.clone().work(owned));
        node = options.lists.iter().cloned().fold(node, NodeBuilder::task_list);
        let store = calls.of(baton_drivers::open(&options.store).await?);
        node = node.partitions(handler).partition_store(store);
    }
    let node = node.build()?;
    let is_writing = write(options, &works, &log).await?;
    let mut is_draining = false;
    let leaves = async {
        loop {
            tokio::select! {
                biased;
                _ = terminated.recv() => break,
                _ = node.left() => break,
                _ = asked.recv() => {
                    let (at, totals) = (SystemClock.now(), calls.read());
                    log.note(&OwnerLine::Calls { at, totals });
                }
                _ = drained.recv() => {
                    is_draining = !is_draining;
                    node.set_draining(is_draining);
                }
            }
        }
        node.leave().await;
    };
    tokio::select! {
        () = leaves => {}
        () = works.clone().watch() => {}
        () = is_writing => {}
    }
    Ok(())
}

/// The writes for partitions, if there are any.
async fn write(
    options: &Owner,
    works: &Works,
    log: &Arc<OwnerLog>,
) -> Result<impl Future<Output = ()>, BenchError> {
    let writes = match options.writes_every {
        Some(every) => Some(FencedWrites {
            store: baton_drivers::open(&options.store).await?,
            namespace: Namespace::new(&format!("{}-work", options.namespace))
                .expect("a plain name"),
            works: works.clone(),
            log: log.clone(),
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

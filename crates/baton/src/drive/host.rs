//! The host: one thread, one boot id, one lifeline, for every node of a process that shares them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use baton_core::ids::BootId;
use baton_store::Store;
use tokio::sync::mpsc;

use super::{Message, SeatId, drive};
use crate::error::BuildError;
use crate::lifeline::{Lifeline, LifelineConfig};
use crate::observe::Logs;
use crate::random;

/// Threads of the runtime that plugins run on, unless one is given.
const WORK_THREADS: usize = 4;

/// Started with the first node, ends with the last.
pub(crate) struct Host {
    pub(crate) boot: BootId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) lifeline: Option<Lifeline>,
    pub(crate) work: tokio::runtime::Handle,
    pub(crate) inbox: mpsc::UnboundedSender<Message>,
    pub(crate) logs: Logs,
    seats: AtomicU64,
}

impl Host {
    /// Starts the thread.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        lifeline: &LifelineConfig,
        work: Option<tokio::runtime::Handle>,
    ) -> Result<Arc<Self>, BuildError> {
        let boot = random::fresh_boot()?;
        let logs = Logs::start()?;
        let (inbox, received) = mpsc::unbounded_channel();
        let lifeline = Lifeline::listen(lifeline, boot)?;
        let own = match work {
            Some(_) => None,
            None => Some(work_runtime()?),
        };
        let own_handle = own.as_ref().map(|runtime| runtime.handle().clone());
        let work = work.or(own_handle).expect("one of the two is there");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = lifeline.as_ref().map(Lifeline::serve).transpose()?;
        let hints = inbox.downgrade();
        let main = async move {
            let mut lifeline = tokio::task::JoinSet::new();
            if let Some(serve) = listener {
                lifeline.spawn(serve.run(hints));
            }
            drive(received).await
        };
        std::thread::Builder::new().name("baton".to_owned()).spawn(move || {
            let driven = runtime.block_on(main);
            // Plugins that ignored their cancellation must not keep the thread.
            own.into_iter().for_each(tokio::runtime::Runtime::shutdown_background);
            driven.expect("the thread has a timer");
        })?;
        let seats = AtomicU64::new(0);
        Ok(Arc::new(Self { boot, store, lifeline, work, inbox, logs, seats }))
    }

    pub(crate) fn next_seat(&self) -> SeatId {
        SeatId(self.seats.fetch_add(1, Ordering::Relaxed))
    }
}

fn work_runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORK_THREADS)
        .thread_name("baton-work")
        .enable_all()
        .build()
}

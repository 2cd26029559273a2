//! The host: one thread, one boot id, one lifeline, for every node of a process that shares them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use baton_core::ids::BootId;
use baton_store::Store;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc;

use super::{Inbox, Message, NodeTaskId, REPORTS_MAX, drive};
use crate::error::BuildError;
use crate::lifeline::{Lifeline, LifelineConfig};
use crate::observe::Logs;
use crate::random;

/// Started with the first node, ends with the last.
pub(crate) struct Host {
    pub(crate) boot: BootId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) lifeline: Option<Lifeline>,
    pub(crate) work: WorkRuntime,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) reports: mpsc::Sender<Message>,
    pub(crate) logs: Logs,
    nodes: AtomicU64,
}

impl Host {
    pub(crate) fn start(
        store: Arc<dyn Store>,
        lifeline: &LifelineConfig,
        work: Option<Handle>,
    ) -> Result<Arc<Self>, BuildError> {
        let boot = random::fresh_boot()?;
        let logs = Logs::start()?;
        let inbox = Arc::<Inbox>::default();
        let (reports, reported) = mpsc::channel(REPORTS_MAX);
        let lifeline = Lifeline::listen(lifeline, boot)?;
        let work = WorkRuntime::new(work);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let answers = lifeline.as_ref().map(|it| it.serve(inbox.clone())).transpose()?;
        let (received, ends_work) = (inbox.clone(), EndsWork(work.clone()));
        let main = async move {
            let mut lifeline = tokio::task::JoinSet::new();
            if let Some(answers) = answers {
                lifeline.spawn(answers);
            }
            drive(received, reported).await
        };
        std::thread::Builder::new().name("baton".to_owned()).spawn(move || {
            let _ends_work = ends_work;
            runtime.block_on(main).expect("the thread has a timer");
        })?;
        let nodes = AtomicU64::new(0);
        Ok(Arc::new(Self { boot, store, lifeline, work, inbox, reports, logs, nodes }))
    }

    pub(crate) fn next_node(&self) -> NodeTaskId {
        NodeTaskId(self.nodes.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.inbox.no_more_nodes();
    }
}

const WORK_THREADS: usize = 4;

/// The threads that plugins and services run on: a runtime that was given, or one that is started
/// when it is first asked for. A node without plugins and services has no such threads.
#[derive(Clone)]
pub(crate) enum WorkRuntime {
    Given(Handle),
    /// Shared by the nodes of a host.
    Own(Arc<Mutex<Own>>),
}

#[derive(Default)]
pub(crate) enum Own {
    #[default]
    NotStarted,
    Started(Runtime),
    /// The host's thread has ended, and it with it.
    Ended,
}

impl WorkRuntime {
    pub(crate) fn new(given: Option<Handle>) -> Self {
        given.map_or_else(|| Self::Own(Arc::default()), Self::Given)
    }

    /// Where work runs, started if it was not.
    pub(crate) fn handle(&self) -> std::io::Result<Handle> {
        let own = match self {
            Self::Given(handle) => return Ok(handle.clone()),
            Self::Own(own) => own,
        };
        let mut own = own.lock().expect("no holder panics");
        if matches!(*own, Own::NotStarted) {
            let mut builder = Builder::new_multi_thread();
            let builder = builder.worker_threads(WORK_THREADS).thread_name("baton-work");
            *own = Own::Started(builder.enable_all().build()?);
        }
        match &*own {
            Own::Started(runtime) => Ok(runtime.handle().clone()),
            Own::NotStarted | Own::Ended => Err(std::io::Error::other("the node has left")),
        }
    }
}

/// Ends the host's own runtime when it is dropped, without waiting for what runs on it: work that
/// ignored its cancellation must not keep the host's thread.
pub(crate) struct EndsWork(pub(crate) WorkRuntime);

impl Drop for EndsWork {
    fn drop(&mut self) {
        let WorkRuntime::Own(own) = &self.0 else { return };
        let own = std::mem::replace(&mut *own.lock().expect("no holder panics"), Own::Ended);
        if let Own::Started(runtime) = own {
            runtime.shutdown_background();
        }
    }
}

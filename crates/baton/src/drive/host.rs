//! The host: one thread, one boot id, one lifeline, for every node of a process that shares them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use baton_core::ids::BootId;
use baton_store::Store;
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc;

use super::work_runtime::{EndsWorkRuntime, WorkRuntime};
use super::{Inbox, Message, NodeTaskId, REPORTS_MAX, drive};
use crate::error::BuildError;
use crate::lifeline::{Lifeline, LifelineConfig};
use crate::observe::Logs;
use crate::once::OwnNodes;
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
    pub(crate) once_nodes: OwnNodes,
    tasks: AtomicU64,
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
        let (received, ends_work) = (inbox.clone(), EndsWorkRuntime(work.clone()));
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
        let tasks = AtomicU64::new(0);
        let once_nodes = OwnNodes::default();
        Ok(Arc::new(Self { boot, store, lifeline, work, inbox, reports, logs, once_nodes, tasks }))
    }

    pub(crate) fn next_task_id(&self) -> NodeTaskId {
        NodeTaskId(self.tasks.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.inbox.no_more_nodes();
    }
}

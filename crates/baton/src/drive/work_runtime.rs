//! The threads that plugins and services run on. Unless the application gives a runtime, one is
//! started with the first of them: a node without any has no such threads.

use std::sync::{Arc, Mutex};

use tokio::runtime::{Builder, Handle, Runtime};

/// Threads of the runtime, unless one is given.
const WORK_THREADS: usize = 4;

/// A runtime that was given, or one that is started when it is first asked for.
#[derive(Clone)]
pub(crate) enum WorkRuntime {
    /// The application's own.
    Given(Handle),
    /// Shared by the nodes of a host.
    Own(Arc<Mutex<Own>>),
}

/// A runtime of the host's own.
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

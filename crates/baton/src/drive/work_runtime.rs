//! The threads that plugins and services run on.

use std::sync::{Arc, Mutex};

use tokio::runtime::{Builder, Handle, Runtime};

const WORK_THREADS: usize = 4;

/// A runtime that was given, or one of the host's own, which is started when it is first asked for.
/// A node without plugins and services has no such threads.
#[derive(Clone)]
pub(crate) enum WorkRuntime {
    Given(Handle),
    /// Shared by the nodes of a host.
    Own(Arc<Mutex<OwnRuntime>>),
}

#[derive(Default)]
pub(crate) enum OwnRuntime {
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
        if matches!(*own, OwnRuntime::NotStarted) {
            let mut builder = Builder::new_multi_thread();
            let builder = builder.worker_threads(WORK_THREADS).thread_name("baton-work");
            *own = OwnRuntime::Started(builder.enable_all().build()?);
        }
        match &*own {
            OwnRuntime::Started(runtime) => Ok(runtime.handle().clone()),
            OwnRuntime::NotStarted | OwnRuntime::Ended => {
                Err(std::io::Error::other("the node has left"))
            }
        }
    }
}

/// Ends the host's own runtime when it is dropped, without waiting for what runs on it: work that
/// ignored its cancellation must not keep the host's thread.
pub(super) struct EndsWorkRuntime(pub(super) WorkRuntime);

impl Drop for EndsWorkRuntime {
    fn drop(&mut self) {
        let WorkRuntime::Own(own) = &self.0 else { return };
        let own = std::mem::replace(&mut *own.lock().expect("no holder panics"), OwnRuntime::Ended);
        if let OwnRuntime::Started(runtime) = own {
            runtime.shutdown_background();
        }
    }
}

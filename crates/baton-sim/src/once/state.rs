//! One state: the store, the processes, what is under way, and what the checks remember.

use baton_core::ids::{Epoch, NodeId};
use baton_core::schedule::OnCrash;
use baton_core::schedule::once::{
    FoundRecord, OnceClaim, OnceEnding, OnceRecord, OnceTerm, OnceWait, OnceWrite, OnceWritten,
};
use baton_store::Precondition;
use serde::Serialize;

use super::witness::{Seen, Witness};

/// How far the search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bounds {
    pub on_crash: OnCrash,
    /// How many processes there are at a time.
    pub processes: usize,
    /// How many processes are started in all.
    pub starts: u8,
    /// How many faults may happen, of any kinds and at any times.
    pub faults: u8,
}

impl Bounds {
    /// What is searched by default.
    pub fn defaults() -> Vec<Self> {
        let two = Self { on_crash: OnCrash::Retry, processes: 2, starts: 3, faults: 2 };
        let three = Self { processes: 3, faults: 1, ..two };
        let of =
            |bounds| [OnCrash::Retry, OnCrash::Skip].map(|on_crash| Self { on_crash, ..bounds });
        [two, three].into_iter().flat_map(of).collect()
    }
}

/// A request that a process has sent, and its answer once the store has carried it out.
#[derive(Clone, Debug, Hash)]
pub enum Request {
    Read(Option<FoundRecord>),
    Write(OnceWrite, Option<OnceWritten>),
}

/// Where a process stands.
#[derive(Clone, Debug, Hash)]
pub enum Stage {
    /// It reads the record before it waits.
    Starting,
    Waiting(OnceWait),
    Leading(OnceWait, Epoch, OnceTerm),
    Running(OnceWait, Epoch, OnceClaim),
    /// Its work has ended, well or not, and it records that.
    Ending(OnceWait, Epoch, OnceEnding, bool),
}

/// A process.
#[derive(Clone, Debug, Hash)]
pub struct Process {
    pub stage: Stage,
    pub request: Option<Request>,
    /// What the checks remember of it.
    pub seen: Seen,
}

impl Process {
    /// The epoch of its term, over or not.
    pub fn epoch(&self) -> Option<Epoch> {
        match &self.stage {
            Stage::Starting | Stage::Waiting(_) => None,
            Stage::Leading(_, epoch, _)
            | Stage::Running(_, epoch, _)
            | Stage::Ending(_, epoch, _, _) => Some(*epoch),
        }
    }
}

/// The store: one document, by the rules of the memory store.
#[derive(Clone, Debug, Default, Hash)]
pub struct Store {
    pub record: Option<OnceRecord>,
    pub version: u64,
    /// The highest epoch that was granted.
    pub granted: Epoch,
}

impl Store {
    /// The document.
    pub fn read(&self) -> FoundRecord {
        FoundRecord { record: self.record.clone(), version: self.version }
    }

    /// Writes the document over a version, fenced and compared as the caller says.
    pub fn write(
        &mut self,
        write: &OnceWrite,
        over: Precondition,
        fence: Option<Epoch>,
    ) -> OnceWritten {
        if fence.is_some_and(|epoch| epoch < self.granted) {
            return OnceWritten::Fenced;
        }
        if !over.holds(self.version) {
            return OnceWritten::Unsure;
        }
        self.record = Some(write.record.clone());
        self.version += 1;
        OnceWritten::Yes(self.version)
    }
}

/// One state of the whole.
#[derive(Clone, Debug, Hash)]
pub struct State {
    pub store: Store,
    /// Whose term lasts.
    pub leader: Option<usize>,
    pub slots: Vec<Option<Process>>,
    /// Writes without a sender that waits, which may reach the store at any time.
    pub late: Vec<(Epoch, OnceWrite)>,
    /// Processes that may still be started.
    pub starts: u8,
    /// Faults that may still happen.
    pub faults: u8,
    pub witness: Witness,
}

impl State {
    /// Nothing has started.
    pub fn first(bounds: &Bounds) -> Self {
        Self {
            store: Store::default(),
            leader: None,
            slots: vec![None; bounds.processes],
            late: Vec::new(),
            starts: bounds.starts,
            faults: bounds.faults,
            witness: Witness::new(bounds.on_crash),
        }
    }

    /// Does this process lead, in a term that lasts?
    pub fn leads(&self, slot: usize) -> bool {
        self.leader == Some(slot)
    }
}

/// The name of the node in a slot, which its next process has too.
pub fn node(slot: usize) -> NodeId {
    NodeId::new(&format!("n{slot}")).expect("it is a valid name")
}

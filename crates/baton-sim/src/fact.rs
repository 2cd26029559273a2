//! What the checkers are shown: facts about a run, as only the simulator can know them.

use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::lease::Window;
use baton_core::protocol::{LeaseSnapshot, Request, ViewVersion};
use baton_core::time::Moment;

/// One process: a slot of the simulated cluster, and the boot that runs in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessId {
    pub slot: usize,
    pub boot: BootId,
}

/// A trust window that is open at this very moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenWindow {
    pub pid: ProcessId,
    pub epoch: Epoch,
}

/// What a process holds and does, right after it handled something.
#[derive(Clone, Copy, Debug)]
pub struct ProcessState {
    /// Its own clock.
    pub local: Moment,
    /// The term whose work was started and not told to stop.
    pub running: Option<Epoch>,
    pub holding: Option<Epoch>,
    pub window: Option<(Epoch, Window)>,
    pub known_epoch: Epoch,
    pub known_view: ViewVersion,
    pub leaving: bool,
}

/// What changed the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeCause {
    Acquire {
        /// The highest epoch the claimant had seen.
        floor: Epoch,
    },
    Renew,
    /// The holder gave it up.
    Release,
    /// The store went back to an older copy.
    Rollback,
}

/// Something that happened. Borrowed from the run: a checker keeps what it needs.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    OpenWindows(&'a [OpenWindow]),
    Handled(ProcessId, ProcessState),
    TermStarted {
        pid: ProcessId,
        node: &'a NodeId,
        epoch: Epoch,
        /// The highest epoch the process had been shown before.
        seen: Epoch,
        eligible: bool,
    },
    WorkBegan {
        pid: ProcessId,
        epoch: Epoch,
        /// By its own clock.
        local: Moment,
        window: Option<(Epoch, Window)>,
    },
    WorkStopped(ProcessId, Epoch),
    Sent {
        pid: ProcessId,
        /// At what true time.
        at: Moment,
        /// When, by its own clock.
        local: Moment,
        request: &'a Request,
        known_view: ViewVersion,
        /// How long ago the store last answered it, in true time.
        since_reply: Duration,
    },
    /// A lease write of this process was applied; it was sent at this reading of its own clock.
    LeaseApplied {
        pid: ProcessId,
        epoch: Epoch,
        /// When it was sent, by the sender's clock.
        sent: Moment,
    },
    /// A beat's reply reached a process, and it handled it.
    LeaseShown {
        pid: ProcessId,
        /// What it was shown.
        lease: Option<&'a LeaseSnapshot>,
        stale: bool,
        state: ProcessState,
        /// The last term of its own that is over.
        ended: Epoch,
        /// The highest epoch it had been shown before.
        seen: Epoch,
    },
    LeaseChanged {
        before: Option<&'a LeaseSnapshot>,
        after: Option<&'a LeaseSnapshot>,
        /// Had it expired, by the store's clock?
        expired: bool,
        cause: ChangeCause,
    },
    /// A process took the record of its node id over from another one that lives.
    RecordReplaced {
        by: ProcessId,
        living: ProcessId,
        /// How long after its own start, in true time.
        after: Duration,
    },
    ViewStored(ViewVersion),
    /// A term's plugins did not start, or failed too often; does its process still hold on to it?
    PluginsFailed {
        pid: ProcessId,
        epoch: Epoch,
        /// Is it still running it?
        running: Option<Epoch>,
    },
    /// A task of some epoch was accepted or not.
    TaskJudged {
        pid: ProcessId,
        /// When, by its own clock.
        local: Moment,
        epoch: Epoch,
        created: Moment,
        accepted: bool,
        /// The epoch the process knew before.
        known: Epoch,
    },
}

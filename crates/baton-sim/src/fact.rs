//! What the checkers are shown: facts about a run, as only the simulator can know them.

use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::lease::Window;
use baton_core::protocol::{LeaseSnapshot, Request, ViewVersion};
use baton_core::time::Moment;

/// One process: a slot of the simulated cluster, and the boot that runs in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    /// The slot.
    pub slot: usize,
    /// The boot.
    pub boot: BootId,
}

/// A trust window that is open at this very moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenWindow {
    /// Whose.
    pub who: Who,
    /// Of which term.
    pub epoch: Epoch,
}

/// What a process holds and does, right after it handled something.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Its own clock.
    pub local: Moment,
    /// The term whose work was started and not told to stop.
    pub running: Option<Epoch>,
    /// The term whose record names it.
    pub holding: Option<Epoch>,
    /// Its open window.
    pub window: Option<(Epoch, Window)>,
    /// The highest epoch it knows.
    pub known_epoch: Epoch,
    /// The view it knows.
    pub known_view: ViewVersion,
    /// Is it on its way out?
    pub leaving: bool,
}

/// What moved the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A claim was granted.
    Acquire {
        /// The highest epoch the claimant had seen.
        floor: Epoch,
    },
    /// A renewal was accepted.
    Renew,
    /// The holder gave it up.
    Release,
    /// The store went back to an older copy.
    Rollback,
}

/// Something that happened. Borrowed from the run: a checker keeps what it needs.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// After every event: all windows that are open.
    Windows(&'a [OpenWindow]),
    /// A process handled something.
    Handled(Who, Condition),
    /// A term's work is started.
    TermStarted {
        /// By whom.
        who: Who,
        /// Which node that is.
        node: &'a NodeId,
        /// The term.
        epoch: Epoch,
        /// The highest epoch the process had been shown before.
        seen: Epoch,
        /// May the node lead?
        eligible: bool,
    },
    /// A call into a plugin began.
    WorkBegan {
        /// Whose.
        who: Who,
        /// Of which term.
        epoch: Epoch,
        /// By its own clock.
        local: Moment,
        /// The window it had open.
        window: Option<(Epoch, Window)>,
    },
    /// All work of a term has stopped.
    WorkStopped(Who, Epoch),
    /// A request was sent.
    Sent {
        /// By whom.
        who: Who,
        /// At what true time.
        at: Moment,
        /// When, by its own clock.
        local: Moment,
        /// What.
        request: &'a Request,
        /// The view it knows.
        known_view: ViewVersion,
        /// How long ago the store last answered it, in true time.
        heard: Duration,
    },
    /// A lease write of this process was applied; it was sent at this reading of its own clock.
    Applied {
        /// Whose.
        who: Who,
        /// The term.
        epoch: Epoch,
        /// When it was sent, by the sender's clock.
        sent: Moment,
    },
    /// A beat's reply reached a process, and it handled it.
    Shown {
        /// Who.
        who: Who,
        /// What it was shown.
        lease: Option<&'a LeaseSnapshot>,
        /// Was the answer an old one?
        stale: bool,
        /// What it holds now.
        condition: Condition,
        /// The last term of its own that is over.
        ended: Epoch,
        /// The highest epoch it had been shown before.
        seen: Epoch,
    },
    /// The record changed.
    LeaseMoved {
        /// As it was.
        before: Option<&'a LeaseSnapshot>,
        /// As it is.
        after: Option<&'a LeaseSnapshot>,
        /// Had it expired, by the store's clock?
        expired: bool,
        /// Why.
        cause: Cause,
    },
    /// A process took the record of its node id over from another one that lives.
    Replaced {
        /// Who did.
        by: Who,
        /// The other one.
        living: Who,
        /// How long after its own start, in true time.
        after: Duration,
    },
    /// A view was accepted by the store.
    ViewStored(ViewVersion),
    /// A term's plugins did not start, or failed too often; does its process still hold on to it?
    PluginsFailed {
        /// Who.
        who: Who,
        /// The term.
        epoch: Epoch,
        /// Is it still running it?
        running: Option<Epoch>,
    },
    /// A task of some epoch was accepted or not.
    Judged {
        /// By whom.
        who: Who,
        /// When, by its own clock.
        local: Moment,
        /// The task's epoch.
        epoch: Epoch,
        /// When the task came into being there.
        created: Moment,
        /// Was it accepted?
        accepted: bool,
        /// The epoch the process knew before.
        known: Epoch,
    },
}

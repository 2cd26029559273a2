//! What comes out of the core: everything a runtime must carry out.

use std::sync::Arc;
use std::time::Duration;

use crate::event::{DemotionReason, Event};
use crate::ids::{BootId, Epoch, NodeId};
use crate::lease::Window;
use crate::membership::MembersReading;
use crate::protocol::{Hint, Request, RequestId};
use crate::time::Moment;
use crate::timer::Timer;

/// One effect. The runtime carries actions out in order.
#[expect(clippy::large_enum_variant, reason = "sending is nearly all that is done")]
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Send a request to the store. Exactly one `Replied` or `Failed` must come back for it, the
    /// latter with `Failure::Unknown` when `timeout` has passed.
    Send {
        /// Echoed with the answer.
        id: RequestId,
        /// What to send.
        request: Request,
        /// How long to wait for the answer.
        timeout: Duration,
    },
    /// Set or move a timer.
    SetTimer {
        /// Which.
        timer: Timer,
        /// When it falls due. A moment in the past falls due at once.
        at: Moment,
    },
    /// Take a timer back.
    CancelTimer(Timer),
    /// Start the term's work. Answer with `TermStarted` or `TermFailed`. Every call into a plugin
    /// must look at `Core::may_start_work` first: the window may have closed since.
    StartTerm {
        /// The term.
        epoch: Epoch,
        /// How long it is trusted as things stand; `Core::window` has the latest.
        window: Window,
    },
    /// Cancel the term's work and prove that it stopped, with `TermStopped`, before `by`.
    StopTerm {
        /// The term.
        epoch: Epoch,
        /// Why.
        reason: DemotionReason,
        /// `stop_grace` from now, or the hard deadline if that is sooner.
        by: Moment,
    },
    /// Keep a connection to this process's lifeline, beside others that are watched, and report
    /// what becomes of it. Replaces an earlier watch of the same process.
    WatchLifeline {
        /// The process.
        boot: BootId,
        /// Where it listens.
        address: Arc<str>,
    },
    /// Drop the watch of a process's lifeline.
    UnwatchLifeline {
        /// The process.
        boot: BootId,
    },
    /// The records were read: the coordinator of the partitions needs them.
    MembersRead(MembersReading),
    /// Pass a hint to another node over its lifeline, if there is a way. It may be lost.
    Tell {
        /// To whom.
        to: NodeId,
        /// What.
        hint: Hint,
    },
    /// Warm the plugins up: this node is about to be named successor.
    Prepare,
    /// Tell the subscribers.
    Emit(Event),
    /// The node has left, or must not go on. No further action follows.
    Halt,
}

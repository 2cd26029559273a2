//! The beat: one request that refreshes the node record, acts on the lease and learns of a new
//! view. At most one is under way at a time.
//!
//! ```text
//!   Timer::Beat ─┐                         ┌── Applied / Conflict ──► observed lease, term, view
//!   hint ────────┼──► send ──► store ──────┤
//!   claim due ───┘                         └── Failed ──► breaker, backoff; Unknown attempts are
//!                                              kept until a look shows what became of them
//! ```

mod attempts;
mod failure;
mod read_cadence;
mod reply;
mod send;

use std::sync::Arc;
use std::time::Duration;

use crate::guard::breaker::Breaker;
use crate::guard::hints::HintBudget;
use crate::ids::{BootId, NodeId, Nonce};
use crate::protocol::{Claim, NodeRecord, RequestId, Version, View};
use crate::time::Moment;

pub use attempts::Attempts;
use read_cadence::ReadCadence;

/// The requests under way, one of each kind at most.
#[derive(Clone, Debug, Hash)]
pub struct InFlight {
    pub(crate) breaker: Breaker,
    pub(crate) beat: Option<BeatUnderWay>,
    pub(crate) members: Option<(RequestId, Moment)>,
    /// A node joined while the records were being read.
    pub(crate) members_again: bool,
    pub(crate) publish: Option<(RequestId, Arc<View>)>,
    pub(crate) release: Option<(RequestId, Version, Option<NodeId>)>,
    /// Views sent in this term, answered or not: a lost answer must not make a number repeat.
    pub(crate) views_sent: u64,
    /// Views refused in a row in this term.
    pub(crate) views_refused: u32,
    pub(crate) leave: Option<RequestId>,
    /// Whom the last release of the lease named.
    pub(crate) left_to: Option<NodeId>,
    pub(crate) removal: Option<RequestId>,
    /// Records of dead processes that are to be taken out next.
    pub(crate) dead_records: Vec<(NodeId, BootId)>,
    pub(crate) ask: Option<RequestId>,
    pub(crate) read_cadence: ReadCadence,
    pub(crate) hints: HintBudget,
    requests: u64,
    beats: u64,
    failures: u32,
    pub(crate) due: Moment,
    late_since: Option<Moment>,
    /// When the next beat is due by the clock. One before that is a look in between: it renews
    /// nothing, writes nothing, and puts nothing off.
    regular: Moment,
    /// The beat that follows the one under way early, if something asked for it meanwhile.
    follow_up: Option<EarlyBeat>,
    last_sent: Option<Moment>,
    hold_until: Moment,
}

/// The beat under way.
#[derive(Clone, Debug, Hash)]
pub struct BeatUnderWay {
    id: RequestId,
    sent: Moment,
    nonce: Option<Nonce>,
    renews: bool,
    in_between: bool,
    /// Does it bid for a version that only a hint has told of?
    hinted: bool,
    /// The record that it writes, unless that may wait.
    record: Option<NodeRecord>,
}

impl BeatUnderWay {
    /// Does it try to begin a term?
    pub(crate) fn claims(&self) -> bool {
        self.nonce.is_some() && !self.renews
    }
}

/// Why a beat comes sooner than planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum EarlyBeat {
    /// There may be something to see.
    Look,
    /// The lease was left to this node: no pause before the look that shows it.
    AtOnce,
    /// There is something to do. No hint makes less of it.
    Beat,
}

/// A claim together with the version it is made on. They belong together: what proves one version
/// free says nothing of another.
#[derive(Clone, Copy, Debug)]
pub struct Bid {
    pub(crate) claim: Claim,
    pub(crate) expect: Option<Version>,
    /// Has only a hint told of this version?
    pub(crate) hinted: bool,
}

impl InFlight {
    pub(crate) fn new(breaker: Breaker, beat: Duration) -> Self {
        Self {
            breaker,
            beat: None,
            members: None,
            members_again: false,
            publish: None,
            release: None,
            views_sent: 0,
            views_refused: 0,
            leave: None,
            left_to: None,
            removal: None,
            dead_records: Vec::new(),
            ask: None,
            read_cadence: ReadCadence::default(),
            hints: HintBudget::new(beat),
            requests: 0,
            beats: 0,
            failures: 0,
            due: Moment::default(),
            late_since: None,
            regular: Moment::default(),
            follow_up: None,
            last_sent: None,
            hold_until: Moment::default(),
        }
    }

    /// Is a renewal under way, whose outcome decides which version there is?
    pub(crate) fn renewal_is_out(&self) -> bool {
        self.beat.as_ref().is_some_and(|beat| beat.renews)
    }
}

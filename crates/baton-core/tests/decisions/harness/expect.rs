//! What the core is expected to do: short constructors for long actions.

use std::ops::RangeInclusive;
use std::sync::Arc;

use baton_core::ids::{Epoch, Lineage, Nonce};
use baton_core::lease::Window;
use baton_core::protocol::{
    Acquire, BeatRequest, Claim, Hint, LeaseIntent, Recording, Release, ReleaseReason, Renew,
    Request, RequestId, Version, View, ViewVersion,
};
use baton_core::timer::Timer;
use baton_core::{Action, DemotionReason, Event, Phase};

use super::store::record;
use super::{ME, at, boot, id, ms};

/// A timer is set.
pub fn set(timer: Timer, ms: u64) -> Action {
    Action::SetTimer { timer, at: at(ms) }
}

/// A timer is taken back.
pub fn cancel(timer: Timer) -> Action {
    Action::CancelTimer(timer)
}

/// An event is emitted.
pub fn emit(event: Event) -> Action {
    Action::Emit(event)
}

/// A request goes out under this id.
pub fn send(number: u64, request: Request) -> Action {
    Action::Send { id: RequestId(number), request, timeout: ms(2_000) }
}

/// A beat as the core should send it.
pub struct Beat(pub BeatRequest);

impl Beat {
    fn new(count: u64, lease: LeaseIntent) -> Self {
        let node = record(ME, count);
        let known_view = ViewVersion::default();
        Self(BeatRequest { node, recording: Recording::Write, replaces: None, lease, known_view })
    }

    /// The so-manieth beat, a mere look.
    pub fn look(count: u64) -> Self {
        Self::new(count, LeaseIntent::Observe)
    }

    /// The so-manieth beat, a claim on this ground, with this attempt.
    pub fn claim(count: u64, attempt: u64, claim: Claim, expect: Option<Version>) -> Self {
        let (nonce, ttl) = (nonce(attempt), ms(15_000));
        let (floor, lineage) = (Epoch::NONE, Lineage(1));
        Self::new(
            count,
            LeaseIntent::Acquire(Acquire { expect, claim, lineage, floor, nonce, ttl }),
        )
    }

    /// The so-manieth beat, a renewal of this version, with this attempt.
    pub fn renew(count: u64, attempt: u64, expect: Version) -> Self {
        let (nonce, ttl) = (nonce(attempt), ms(15_000));
        Self::new(count, LeaseIntent::Renew(Renew { expect, lineage: Lineage(1), nonce, ttl }))
    }

    /// The node has seen this epoch.
    pub fn seen(mut self, epoch: u64) -> Self {
        self.0.node.seen = Epoch(epoch);
        if let LeaseIntent::Acquire(Acquire { floor, .. }) = &mut self.0.lease {
            *floor = Epoch(epoch);
        }
        self
    }

    /// The node has this view.
    pub fn knows(mut self, epoch: u64, number: u64) -> Self {
        self.0.known_view = ViewVersion { epoch: Epoch(epoch), number };
        self
    }

    /// The store's lineage as last seen.
    pub fn in_lineage(mut self, seen: u64) -> Self {
        match &mut self.0.lease {
            LeaseIntent::Observe => {}
            LeaseIntent::Acquire(Acquire { lineage, .. })
            | LeaseIntent::Renew(Renew { lineage, .. }) => {
                *lineage = Lineage(seen);
            }
        }
        self
    }

    /// The request with this id.
    pub fn sent(self, number: u64) -> Action {
        send(number, Request::Beat(self.0))
    }
}

fn nonce(attempt: u64) -> Nonce {
    Nonce { boot: boot(ME), attempt }
}

/// The node records are read.
pub fn read_members(number: u64) -> Action {
    send(number, Request::ReadMembers)
}

/// A view is published under the epoch it was made in.
pub fn publish(number: u64, view: View) -> Action {
    let fence = view.version.epoch;
    send(number, Request::PublishView { fence, view: Arc::new(view) })
}

/// The lease is given up with this attempt.
pub fn release(
    number: u64,
    expect: Version,
    attempt: u64,
    successor: Option<&str>,
    reason: ReleaseReason,
) -> Action {
    let successor = successor.map(id);
    send(number, Request::Release(Release { expect, nonce: nonce(attempt), successor, reason }))
}

/// The node takes its record out.
pub fn leave(number: u64) -> Action {
    send(number, Request::Leave { node: id(ME), boot: boot(ME) })
}

/// The window of a lease write that was sent at this time.
pub fn window(sent: u64) -> Window {
    Window { soft: at(sent + 12_600), hard: at(sent + 14_600) }
}

/// The term's work starts; the lease write behind it was sent at this time.
pub fn start_term(epoch: u64, sent: u64) -> Action {
    Action::StartTerm { epoch: Epoch(epoch), window: window(sent) }
}

/// The term's work must stop before this time.
pub fn stop_term(epoch: u64, reason: DemotionReason, by: u64) -> Action {
    Action::StopTerm { epoch: Epoch(epoch), reason, by: at(by) }
}

/// The beat came through.
pub fn heartbeat(latency_ms: u64) -> Action {
    emit(Event::WorkerHeartbeat { latency_ms })
}

/// Another node leads, or none.
pub fn leader_changed(previous: Option<&str>, new: Option<&str>, epoch: u64) -> Action {
    let (previous, new) = (previous.map(id), new.map(id));
    emit(Event::LeaderChanged { previous, new, epoch: Epoch(epoch) })
}

/// The cold start moves on.
pub fn phase(phase: Phase, waited_ms: u64) -> Action {
    emit(Event::ColdStartPhaseChanged { phase, waited_ms })
}

/// The node won an election.
pub fn elected(epoch: u64, active: usize) -> Action {
    emit(Event::CoordinatorElected { epoch: Epoch(epoch), mandate_ms: 300_000, active })
}

/// The node's work begins.
pub fn promoted(epoch: u64) -> Action {
    emit(Event::CoordinatorPromoted { epoch: Epoch(epoch) })
}

/// The node's term ends.
pub fn demoted(epoch: u64, reason: DemotionReason) -> Action {
    emit(Event::CoordinatorDemoted { epoch: Epoch(epoch), reason })
}

/// The lease is lost.
pub fn lease_lost(epoch: u64, reason: DemotionReason) -> Action {
    emit(Event::LeaseLost { epoch: Epoch(epoch), reason })
}

/// The leader is told that the node has joined.
pub fn joined(leader: &str) -> Action {
    Action::Tell { to: id(leader), hint: Hint::Joined { boot: boot(ME) } }
}

/// Another node is told that this one has left.
pub fn left(to: &str) -> Action {
    Action::Tell { to: id(to), hint: Hint::Left { boot: boot(ME) } }
}

/// One of the first successors is told to look.
pub fn in_line(successor: &str, epoch: u64, number: u64) -> Action {
    let view = ViewVersion { epoch: Epoch(epoch), number };
    Action::Tell { to: id(successor), hint: Hint::InLine { view } }
}

/// A newer view is known.
pub fn workers_updated(epoch: u64, number: u64, workers: usize) -> Action {
    let version = ViewVersion { epoch: Epoch(epoch), number };
    emit(Event::WorkersUpdated { version, workers })
}

/// The store did not answer a leader.
pub fn unreachable(epoch: u64, left_ms: u64) -> Action {
    emit(Event::StoreUnreachable { epoch: Epoch(epoch), left_ms })
}

/// When a timer was last set that has a random part: checked against its bounds, then as it is, so
/// that the rest of the list can be compared exactly.
pub fn drawn(actions: &[Action], timer: Timer, bounds: RangeInclusive<u64>) -> Action {
    let set = actions.iter().rev().find_map(|action| match action {
        Action::SetTimer { timer: which, at } if *which == timer => Some(*at),
        _ => None,
    });
    let moment = set.expect("the timer is set");
    let (low, high) = (at(*bounds.start()), at(*bounds.end()));
    assert!(low <= moment && moment <= high, "{timer:?} at {moment:?}, not in {bounds:?} ms");
    Action::SetTimer { timer, at: moment }
}

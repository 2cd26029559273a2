//! The node's own thread: the only caller of the core, and of the store on its behalf.
//!
//! ```text
//!   commands ──┐                         ┌──► store calls, each with its timeout ──┐
//!   lifeline ──┼──► inbox ──► seat ──► core ──► term: start, stop ──► supervisor ──┤
//!   replies  ──┘     ▲         │         └──► timers ──► alarm (boot-time clock)   │
//!                    └─────────┴───────────────────────────────────────────────────┘
//! ```
//!
//! One thread drives any number of nodes of one process, each in a namespace of its own: a *seat*.
//! They share the store's connection, the lifeline, and their beats. The thread belongs to nobody
//! else, so a busy application cannot starve a renewal or a deadline.

mod alarm;
mod call;
mod host;
mod node_task;
mod pulse;
mod push;
mod unwatched;

use std::collections::BTreeMap;

use baton_core::Input;
use baton_core::ids::Namespace;
use baton_core::protocol::Hint;
use baton_store::clock::{Clock, LeapWatch, SystemClock};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use alarm::{Alarm, ClockSet};

pub(crate) use call::call_store;
pub(crate) use host::Host;
pub(crate) use node_task::{NodeTask, OnOverrun};
pub(crate) use pulse::Pulse;
pub(crate) use unwatched::tell_if_unwatched;

/// A node's place on its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SeatId(pub(crate) u64);

/// What reaches the thread. The queue is not bounded, what may be in it is: one answer for each
/// request, one report for each watch, hints that their senders drop when there are too many, and
/// what the application itself asks for.
#[expect(clippy::large_enum_variant, reason = "inputs are nearly all of the traffic")]
pub(crate) enum Message {
    /// A node begins.
    Take(Box<NodeTask>),
    /// Something happened to a node.
    Input {
        /// To which.
        seat: SeatId,
        /// What.
        input: Input,
    },
    /// A hint of this node's was passed on, or was lost.
    Told {
        /// Whose.
        seat: SeatId,
    },
    /// A hint came over the lifeline.
    Hinted {
        /// For the node of this namespace.
        namespace: Namespace,
        /// What it says.
        hint: Hint,
    },
}

/// Drives until the last seat is empty and nobody can take another.
pub(crate) async fn drive(mut inbox: mpsc::UnboundedReceiver<Message>) -> std::io::Result<()> {
    let mut alarm = Alarm::new()?;
    let mut seats = BTreeMap::<SeatId, NodeTask>::new();
    let mut calls = JoinSet::new();
    let mut clock_set = ClockSet::new()?;
    let mut leaps = LeapWatch::new(&SystemClock);
    let mut open = true;
    while open || !seats.is_empty() {
        let wake = seats.values().map(NodeTask::wake_at).min();
        let message = tokio::select! {
            biased;
            () = clock_set.changed() => None,
            () = alarm.ring_at(wake) => None,
            message = inbox.recv(), if open => {
                open = message.is_some();
                message
            }
            Some(answered) = calls.join_next() => {
                Some(answered.expect("what can panic in it is a task of its own"))
            }
        };
        // Before anything that came while the machine stood still.
        if let Some(by) = leaps.look(&SystemClock) {
            for seat in seats.values_mut() {
                seat.handle(Input::ClockLeapt { by }, &mut calls);
            }
        }
        if let Some(message) = message {
            take_in(message, &mut seats, &mut calls);
        }
        fire_timers(&mut seats, &mut calls);
        seats.values().for_each(NodeTask::turn);
        seats.retain(|_, seat| !seat.is_empty());
    }
    // A term may still be stopping: its plugins are told so to the end.
    while calls.join_next().await.is_some() {}
    Ok(())
}

fn take_in(message: Message, seats: &mut BTreeMap<SeatId, NodeTask>, calls: &mut JoinSet<Message>) {
    match message {
        Message::Take(mut seat) => {
            seat.handle(Input::Start, calls);
            seats.insert(seat.id(), *seat);
        }
        Message::Input { seat, input } => {
            if let Some(seat) = seats.get_mut(&seat) {
                seat.handle(input, calls);
            }
        }
        Message::Told { seat } => {
            if let Some(seat) = seats.get_mut(&seat) {
                seat.told();
            }
        }
        Message::Hinted { namespace, hint } => {
            for seat in seats.values_mut().filter(|seat| *seat.namespace() == namespace) {
                seat.handle(Input::Hint(hint.clone()), calls);
            }
        }
    }
    invite(seats, calls);
}

fn fire_timers(seats: &mut BTreeMap<SeatId, NodeTask>, calls: &mut JoinSet<Message>) {
    for seat in seats.values_mut() {
        while let Some(timer) = seat.due_timer(SystemClock.now()) {
            seat.handle(Input::Timer(timer), calls);
        }
    }
    invite(seats, calls);
}

/// Whoever is about to beat takes along whoever is nearly due.
fn invite(seats: &mut BTreeMap<SeatId, NodeTask>, calls: &mut JoinSet<Message>) {
    let beats = seats.values_mut().any(NodeTask::take_beat_mark);
    if beats && seats.len() > 1 {
        for seat in seats.values_mut() {
            seat.handle(Input::Invited, calls);
            seat.take_beat_mark();
        }
    }
}

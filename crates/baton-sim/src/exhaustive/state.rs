//! One state: the clock, the nodes, the store, and what is on its way between them.

use std::hash::Hash;
use std::ops::Deref;
use std::sync::Arc;

use baton_core::ids::{BootId, Epoch, Lineage};
use baton_core::protocol::{Hint, Reply, Request, RequestId};
use baton_store::memory::Space;

use super::bounds::Model;
use super::check::ProcessAnswers;
use super::node::{NodeSlot, Process};
use super::visited::fingerprint;

/// Something that does not change any more, with its fingerprint. A step changes one node or the
/// store: all else is shared with the state before, and not hashed again.
pub struct Hashed<T> {
    value: T,
    fingerprint: u128,
}

/// Takes a value's fingerprint.
pub fn hashed<T: Hash>(value: T) -> Arc<Hashed<T>> {
    let fingerprint = fingerprint(&value);
    Arc::new(Hashed { value, fingerprint })
}

impl<T: Clone> Hashed<T> {
    /// A copy that may change.
    pub fn clone_out(&self) -> T {
        self.value.clone()
    }
}

impl<T> Deref for Hashed<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// What a message brings.
#[derive(Clone, Hash)]
pub enum Payload {
    Request(Request),
    Reply(Reply),
}

/// When a request reaches the store.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// It reaches the store in the tick it was sent in.
    Prompt,
    /// It reaches the store in the tick in which it times out.
    Slow,
    /// It reaches the store after its sender gave up, if ever: no process waits for the answer.
    Late,
}

/// A request or its reply, on its way.
#[derive(Clone, Hash)]
pub struct Message {
    /// Whose request it is. With the id, no two messages share it.
    pub boot: BootId,
    pub id: RequestId,
    pub slot: usize,
    pub due: u32,
    pub arrival: Arrival,
    pub payload: Payload,
}

/// One state of the whole.
///
/// In its fingerprint is everything that decides what can happen next: the tick, the faults that
/// are left, each core (by its own `Hash`: no settings, no numbers for people), what the runtime
/// keeps for it, the store's records, the messages and hints under way, and what the checks
/// remember, which is the last term begun and the highest epoch that closed in each process.
///
/// Not in it: how the state was reached, in which order messages were sent (they are kept in the
/// order of sender and number), and wall clocks (the store is always told the same time of day, or
/// the stamps in its history, by which nothing decides, would tell equal states apart).
#[derive(Clone)]
pub struct State {
    /// The clock.
    pub tick: u32,
    /// Faults that may still happen.
    pub left: u8,
    pub slots: Vec<Arc<Hashed<NodeSlot>>>,
    pub store: Arc<Hashed<Space>>,
    /// Requests and replies under way, by sender and number.
    pub flying: Vec<Arc<Hashed<Message>>>,
    /// Hints under way, by receiver.
    pub hints: Vec<(usize, Hint)>,
    pub last: Option<(Epoch, BootId)>,
}

impl State {
    /// Nothing has started.
    pub fn first(model: &Model) -> Self {
        let idle = || hashed(NodeSlot { generation: 0, process: None });
        Self {
            tick: 0,
            left: model.bounds.faults,
            slots: (0..model.bounds.nodes).map(|_| idle()).collect(),
            store: hashed(Space::new(model.bounds.clock, Lineage(0))),
            flying: Vec::new(),
            hints: Vec::new(),
            last: None,
        }
    }

    /// Tells this state from all others.
    pub fn fingerprint(&self) -> u128 {
        let slots: Vec<u128> = self.slots.iter().map(|slot| slot.fingerprint).collect();
        let flying: Vec<u128> = self.flying.iter().map(|message| message.fingerprint).collect();
        let store = self.store.fingerprint;
        fingerprint(&(self.tick, self.left, slots, store, flying, &self.hints, self.last))
    }

    /// The process in a slot.
    pub fn process(&self, slot: usize) -> Option<&Process> {
        self.slots[slot].process.as_ref()
    }

    /// The processes, and where they run.
    pub fn processes(&self) -> impl Iterator<Item = (usize, &Process)> {
        self.slots.iter().enumerate().filter_map(|(at, slot)| Some((at, slot.process.as_ref()?)))
    }

    /// Is this very process alive?
    pub fn is_alive(&self, slot: usize, boot: BootId) -> bool {
        self.process(slot).is_some_and(|process| process.boot() == boot)
    }

    /// Puts a message on its way, in its place.
    pub fn fly(&mut self, message: Message) {
        let key = (message.boot, message.id);
        let at = self.flying.partition_point(|other| (other.boot, other.id) < key);
        self.flying.insert(at, hashed(message));
    }

    /// Changes what is in a slot.
    pub fn change(&mut self, slot: usize, change: impl FnOnce(&mut NodeSlot)) {
        let mut changed = self.slots[slot].clone_out();
        change(&mut changed);
        self.slots[slot] = hashed(changed);
    }

    /// Changes a process, if there is one.
    pub fn change_process(&mut self, slot: usize, change: impl FnOnce(&mut Process)) {
        self.change(slot, |slot| {
            if let Some(process) = slot.process.as_mut() {
                change(process);
            }
        });
    }

    /// What every living process would answer if it were asked now.
    pub fn answers(&self) -> Vec<ProcessAnswers> {
        self.processes().map(|(at, one)| one.answers(at, one.clock(at, self.tick))).collect()
    }
}

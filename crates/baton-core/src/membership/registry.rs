//! The registry as the coordinator keeps it: who beats, who fell silent, who is dead.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::ids::{BootId, NodeId};
use crate::protocol::{Member, NodeRecord};
use crate::refusal::TransferRefusal;
use crate::time::Moment;

/// What is known of one node.
#[derive(Clone, Debug, Hash)]
pub struct Entry {
    /// Its last record.
    pub record: NodeRecord,
    /// Its place in the order of arrival.
    pub arrival: u64,
    /// Has it beaten since it is watched? A record alone may be that of a dead node.
    pub heard: bool,
    /// When its last beat was read, and how old it was then.
    read_at: Moment,
    age: Duration,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Live,
    Silent,
    Dead,
}

/// What a reading of the records brought to light.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Nodes that joined, or came back.
    pub joined: Vec<NodeId>,
    /// Nodes that fell silent.
    pub timed_out: Vec<NodeId>,
    /// Nodes that are dead.
    pub dead: Vec<NodeId>,
}

/// Every node the coordinator knows of.
#[derive(Clone, Debug, Hash)]
pub struct Registry {
    worker_timeout: Duration,
    dead_node_timeout: Duration,
    entries: BTreeMap<NodeId, Entry>,
    arrivals: u64,
    /// The last process that was proved dead: its record outlives it.
    buried: Option<BootId>,
}

impl Registry {
    /// An empty registry.
    pub fn new(worker_timeout: Duration, dead_node_timeout: Duration) -> Self {
        let entries = BTreeMap::new();
        Self { worker_timeout, dead_node_timeout, entries, arrivals: 0, buried: None }
    }

    /// Takes in all records, read at `now`. `order` is the order of arrival handed down by the
    /// last view; newcomers come after it, by id.
    pub fn read(&mut self, now: Moment, mut members: Vec<Member>, order: &[NodeId]) -> Changes {
        let mut changes = Changes::default();
        members.retain(|member| Some(member.record.boot) != self.buried);
        let present: BTreeMap<NodeId, BootId> =
            members.iter().map(|m| (m.record.id.clone(), m.record.boot)).collect();
        self.entries.retain(|id, _| present.contains_key(id));
        for member in members {
            self.read_one(now, member, order, &mut changes);
        }
        for (id, entry) in &mut self.entries {
            let silence = now.since(entry.read_at) + entry.age;
            let state = if silence >= self.dead_node_timeout {
                State::Dead
            } else if silence >= self.worker_timeout {
                State::Silent
            } else {
                State::Live
            };
            match (entry.state, state) {
                (State::Live, State::Silent | State::Dead) => changes.timed_out.push(id.clone()),
                (State::Silent, State::Live) | (State::Dead, State::Live) => {
                    changes.joined.push(id.clone());
                }
                _ => {}
            }
            if state == State::Dead && entry.state != State::Dead {
                changes.dead.push(id.clone());
            }
            entry.state = state;
        }
        changes
    }

    fn read_one(&mut self, now: Moment, member: Member, order: &[NodeId], to: &mut Changes) {
        let age = member.silent_for.unwrap_or_default();
        let NodeRecord { boot, beat, .. } = member.record;
        if let Some(entry) = self.entries.get_mut(&member.record.id) {
            if entry.record.boot != boot || entry.record.beat != beat {
                (entry.read_at, entry.age) = (now, age);
                entry.heard = true;
            }
            entry.record = member.record;
            return;
        }
        let inherited = order.iter().position(|id| *id == member.record.id);
        let arrival = inherited.map_or(self.arrivals + order.len() as u64, |at| at as u64);
        self.arrivals += 1;
        to.joined.push(member.record.id.clone());
        let entry = Entry {
            arrival,
            heard: member.silent_for.is_some(),
            read_at: now,
            age,
            state: State::Live,
            record: member.record,
        };
        self.entries.insert(entry.record.id.clone(), entry);
    }

    /// The nodes that beat, in order of id.
    pub fn live(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().filter(|entry| entry.state == State::Live)
    }

    /// Why leadership cannot be handed to this node, if so, by the records as they were last read.
    pub fn refuses(&self, now: Moment, id: &NodeId) -> Option<TransferRefusal> {
        let Some(entry) = self.entries.get(id) else {
            return Some(TransferRefusal::NotAMember);
        };
        let silence = now.since(entry.read_at) + entry.age;
        TransferRefusal::of(&entry.record, silence, (self.worker_timeout, self.dead_node_timeout))
    }

    /// This process is proved dead: it is not waited for until it falls silent.
    pub fn bury(&mut self, boot: BootId) {
        self.buried = Some(boot);
    }

    /// Forgets everything: another coordinator keeps the registry now.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.arrivals = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ids::Epoch;
    use crate::protocol::NodeProfile;

    fn at(seconds: u64) -> Moment {
        Moment::from_micros(seconds * 1_000_000)
    }

    fn member(id: &str, beat: u64) -> Member {
        let record = NodeRecord {
            id: NodeId::new(id).expect("valid"),
            boot: BootId(1),
            beat,
            eligible: true,
            draining: false,
            load: 0,
            seen: Epoch::NONE,
            profile: Arc::new(NodeProfile::default()),
        };
        Member { record, silent_for: None }
    }

    fn names(ids: &[NodeId]) -> Vec<&str> {
        ids.iter().map(NodeId::as_str).collect()
    }

    #[test]
    fn a_node_whose_beat_stands_still_falls_silent_then_dies_then_may_return() {
        let mut registry = Registry::new(Duration::from_secs(20), Duration::from_secs(30));
        let changes = registry.read(at(0), vec![member("a", 1), member("b", 1)], &[]);
        assert_eq!(names(&changes.joined), ["a", "b"]);
        let changes = registry.read(at(20), vec![member("a", 5), member("b", 1)], &[]);
        assert_eq!(names(&changes.timed_out), ["b"]);
        assert_eq!(registry.live().count(), 1);
        let changes = registry.read(at(30), vec![member("a", 7), member("b", 1)], &[]);
        assert_eq!((names(&changes.dead), changes.timed_out.len()), (vec!["b"], 0));
        let changes = registry.read(at(31), vec![member("a", 7), member("b", 2)], &[]);
        assert_eq!(names(&changes.joined), ["b"]);
    }

    #[test]
    fn the_stores_own_age_spares_a_new_coordinator_the_wait() {
        let mut registry = Registry::new(Duration::from_secs(20), Duration::from_secs(30));
        let gone = Member { silent_for: Some(Duration::from_secs(40)), ..member("gone", 3) };
        let changes = registry.read(at(100), vec![gone], &[]);
        assert_eq!(names(&changes.dead), ["gone"]);
        assert_eq!(registry.live().count(), 0);
    }

    #[test]
    fn the_order_of_arrival_is_handed_down() {
        let mut registry = Registry::new(Duration::from_secs(20), Duration::from_secs(30));
        let order = ["z", "a"].map(|id| NodeId::new(id).expect("valid"));
        let _ = registry.read(at(0), vec![member("a", 1), member("n", 1), member("z", 1)], &order);
        let mut arrivals: Vec<(u64, &str)> =
            registry.live().map(|e| (e.arrival, e.record.id.as_str())).collect();
        arrivals.sort_unstable();
        assert_eq!(arrivals.iter().map(|a| a.1).collect::<Vec<_>>(), ["z", "a", "n"]);
    }

    #[test]
    fn a_process_that_was_proved_dead_is_left_out_and_its_next_boot_is_not() {
        let mut registry = Registry::new(Duration::from_secs(20), Duration::from_secs(30));
        registry.bury(BootId(1));
        assert_eq!(registry.read(at(0), vec![member("a", 1)], &[]), Changes::default());
        assert_eq!(registry.live().count(), 0);
        let mut again = member("a", 1);
        again.record.boot = BootId(2);
        assert_eq!(names(&registry.read(at(1), vec![again], &[]).joined), ["a"]);
    }

    #[test]
    fn a_record_that_was_taken_out_is_forgotten() {
        let mut registry = Registry::new(Duration::from_secs(20), Duration::from_secs(30));
        let _ = registry.read(at(0), vec![member("a", 1), member("b", 1)], &[]);
        let _ = registry.read(at(1), vec![member("a", 2)], &[]);
        assert_eq!(registry.live().count(), 1);
    }
}

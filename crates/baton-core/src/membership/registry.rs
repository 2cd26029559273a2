//! The registry as the leader keeps it: who beats, who fell silent, who is dead.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::ids::{BootId, NodeId};
use crate::protocol::{Member, NodeRecord, View};
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
    pub has_beaten: bool,
    /// Was it there lately: did the last leader know of it, or did it register in this term?
    pub was_there: bool,
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

/// Every node the leader knows of.
#[derive(Clone, Debug, Hash)]
pub struct Registry {
    worker_timeout: Duration,
    dead_node_timeout: Duration,
    entries: BTreeMap<NodeId, Entry>,
    arrivals: u64,
    /// Were the records read before, in this term?
    is_read: bool,
    /// Processes that said they are there, and whose records were not read yet.
    announced: VecDeque<BootId>,
}

/// More than join at once. One that is forgotten comes later in the line.
const ANNOUNCED_KEPT: usize = 64;

impl Registry {
    /// An empty registry.
    pub fn new(worker_timeout: Duration, dead_node_timeout: Duration) -> Self {
        let entries = BTreeMap::new();
        let announced = VecDeque::new();
        Self { worker_timeout, dead_node_timeout, entries, arrivals: 0, is_read: false, announced }
    }

    /// Takes in all records, read at `now`. The last view hands the order of arrival down, and who
    /// was there; newcomers come after them, by id.
    pub fn read(&mut self, now: Moment, members: Vec<Member>, last: Option<&View>) -> Changes {
        let mut changes = Changes::default();
        let present: BTreeMap<NodeId, BootId> =
            members.iter().map(|m| (m.record.id.clone(), m.record.boot)).collect();
        self.entries.retain(|id, _| present.contains_key(id));
        for member in members {
            self.read_one(now, member, last, &mut changes);
        }
        self.is_read = true;
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

    fn read_one(&mut self, now: Moment, member: Member, last: Option<&View>, to: &mut Changes) {
        let age = member.silent_for.unwrap_or_default();
        let NodeRecord { boot, beat, .. } = member.record;
        if let Some(entry) = self.entries.get_mut(&member.record.id) {
            if entry.record.boot != boot || entry.record.beat != beat {
                (entry.read_at, entry.age) = (now, age);
                entry.has_beaten = true;
            }
            entry.record = member.record;
            return;
        }
        let order = last.map_or(0, |view| view.successors.len()) as u64;
        let inherited = last.and_then(|view| view.rank(&member.record.id));
        let arrival = inherited.map_or(self.arrivals + order, |at| at as u64);
        // A record that was not there at the last reading was written since.
        let known = last.is_some_and(|view| view.is_certain(&member.record.id, boot));
        let was_there = known || self.is_read || self.announced.contains(&boot);
        self.arrivals += 1;
        to.joined.push(member.record.id.clone());
        let entry = Entry {
            arrival,
            has_beaten: member.silent_for.is_some(),
            was_there,
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

    /// Was a record of this process read?
    pub fn knows(&self, boot: BootId) -> bool {
        self.entries.values().any(|entry| entry.record.boot == boot)
    }

    /// Does this record of a known process say anything else of its partitions than the last one?
    pub fn is_report_new(&self, member: &Member) -> bool {
        let entry = self.entries.get(&member.record.id);
        let known = entry.map(|entry| &entry.record).filter(|it| it.boot == member.record.boot);
        known.is_some_and(|known| {
            known.partitions != member.record.partitions || known.draining != member.record.draining
        })
    }

    /// Has a reading shown this beat of a process, or a later one?
    pub fn shows(&self, boot: BootId, beat: u64) -> bool {
        self.entries.values().any(|it| it.record.boot == boot && it.record.beat >= beat)
    }

    /// Is it known that this process is there?
    pub fn is_certain(&self, boot: BootId) -> bool {
        let there =
            |entry: &Entry| entry.record.boot == boot && (entry.has_beaten || entry.was_there);
        self.live().any(there)
    }

    /// This process says that it is there; says whether its record was read already.
    pub fn announced(&mut self, boot: BootId) -> bool {
        let entry = self.entries.values_mut().find(|entry| entry.record.boot == boot);
        if let Some(entry) = entry {
            entry.was_there = true;
            return true;
        }
        if self.announced.len() == ANNOUNCED_KEPT {
            self.announced.pop_front();
        }
        self.announced.push_back(boot);
        false
    }

    /// Why leadership cannot be handed to this node, if so, by the records as they were last read.
    pub fn refuses(&self, now: Moment, id: &NodeId) -> Option<TransferRefusal> {
        let Some(entry) = self.entries.get(id) else {
            return Some(TransferRefusal::NotAMember);
        };
        let silence = now.since(entry.read_at) + entry.age;
        TransferRefusal::of(&entry.record, silence, (self.worker_timeout, self.dead_node_timeout))
    }

    /// Forgets everything: another leader keeps the registry now.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.arrivals = 0;
        self.is_read = false;
        self.announced.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ids::Epoch;
    use crate::protocol::{NodeProfile, ViewVersion};

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
            partitions: None,
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
        let changes = registry.read(at(0), vec![member("a", 1), member("b", 1)], None);
        assert_eq!(names(&changes.joined), ["a", "b"]);
        let changes = registry.read(at(20), vec![member("a", 5), member("b", 1)], None);
        assert_eq!(names(&changes.timed_out), ["b"]);
        assert_eq!(registry.live().count(), 1);
        let changes = registry.read(at(30), vec![member("a", 7), member("b", 1)], None);
        assert_eq!((names(&changes.dead), changes.timed_out.len()), (vec!["b"], 0));
        let changes = registry.read(at(31), vec![member("a", 7), member("b", 2)], None);
        assert_eq!(names(&changes.joined), ["b"]);
    }

    #[test]
    fn the_stores_own_age_spares_a_new_coordinator_the_wait() {
        let mut registry = Registry::new(Duration::from_secs(20), Duration::from_secs(30));
        let gone = Member { silent_for: Some(Duration::from_secs(40)), ..member("gone", 3) };
        let changes = registry.read(at(100), vec![gone], None);
        assert_eq!(names(&changes.dead), ["gone"]);
        assert_eq!(registry.live().count(), 0);
    }

    #[test]
    fn the_order_of_arrival_is_handed_down() {
        let mut registry = Registry::new(Duration::from_secs(20), Duration::from_secs(30));
        let successors = ["z", "a"].map(|id| NodeId::new(id).expect("valid")).to_vec();
        let last = View {
            version: ViewVersion::default(),
            coordinator: NodeId::new("l").expect("valid"),
            members: Vec::new(),
            successors,
            certain: 2,
        };
        let members = vec![member("a", 1), member("n", 1), member("z", 1)];
        let _ = registry.read(at(0), members, Some(&last));
        let mut arrivals: Vec<(u64, &str)> =
            registry.live().map(|e| (e.arrival, e.record.id.as_str())).collect();
        arrivals.sort_unstable();
        assert_eq!(arrivals.iter().map(|a| a.1).collect::<Vec<_>>(), ["z", "a", "n"]);
    }

    #[test]
    fn a_record_that_was_taken_out_is_forgotten() {
        let mut registry = Registry::new(Duration::from_secs(20), Duration::from_secs(30));
        let _ = registry.read(at(0), vec![member("a", 1), member("b", 1)], None);
        let _ = registry.read(at(1), vec![member("a", 2)], None);
        assert_eq!(registry.live().count(), 1);
    }
}

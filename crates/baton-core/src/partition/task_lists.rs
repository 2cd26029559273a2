//! The task lists of a namespace: one document, which people, programs and the leader change.
//!
//! ```text
//!   baton tasklists add, set, remove ──► added ──┐
//!   code or file of the leader ──► declared ─────┼──► TaskLists, by compare-and-set
//!   baton partitions move, pause ────────────────┘         └──► Wanted, for the coordinator
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::refused::TaskListRefused;
use super::task_list::{Partition, TaskList, TaskListId, TaskListStatus};
use super::wanted::{MOVES_MAX, Wanted};
use crate::ids::NodeId;

/// The format of the document that this version writes.
pub(super) const FORMAT: u32 = 1;

/// The task lists of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLists {
    format: u32,
    /// In the order of their ids.
    lists: Vec<TaskList>,
    /// The ids of those that the service declares.
    declared: Vec<TaskListId>,
    /// Partitions that people have moved by hand, each with its node.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    moved: BTreeMap<Partition, NodeId>,
    /// Have people paused voluntary moves?
    #[serde(default)]
    is_paused: bool,
}

/// What is changed about a task list. What is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskListChange {
    /// How many partitions it has.
    pub partitions: Option<u32>,
    /// What one of them weighs.
    pub weight: Option<u32>,
    /// Whether they have owners.
    pub status: Option<TaskListStatus>,
    /// The labels that their owners must have.
    pub requires: Option<BTreeMap<String, String>>,
}

impl Default for TaskLists {
    fn default() -> Self {
        let (lists, declared, moved) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { format: FORMAT, lists, declared, moved, is_paused: false }
    }
}

impl TaskLists {
    /// The name of the document.
    pub const DOCUMENT: &str = "baton:task-lists";

    /// Can this version read it?
    pub fn check_format(&self) -> Result<(), TaskListRefused> {
        match self.format {
            FORMAT => Ok(()),
            found => Err(TaskListRefused::Format { found }),
        }
    }

    /// All lists, in the order of their ids.
    pub fn all(&self) -> &[TaskList] {
        &self.lists
    }

    /// The list of this id.
    pub fn get(&self, id: &TaskListId) -> Option<&TaskList> {
        self.place(id).ok().map(|at| &self.lists[at])
    }

    /// Does the service declare it?
    pub fn is_declared(&self, id: &TaskListId) -> bool {
        self.declared.binary_search(id).is_ok()
    }

    /// Partitions that people have moved by hand, each with the node that is to own it.
    pub fn moved(&self) -> &BTreeMap<Partition, NodeId> {
        &self.moved
    }

    /// Have people paused voluntary moves?
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// What the coordinator goes by.
    pub fn wanted(&self) -> Wanted {
        let Self { lists, moved, is_paused, .. } = self.clone();
        Wanted { lists, moved, is_paused }
    }

    /// Adds a list.
    pub fn add(&mut self, list: TaskList) -> Result<(), TaskListRefused> {
        match self.place(&list.id) {
            Ok(at) => {
                let TaskList { id, partitions, .. } = self.lists[at].clone();
                Err(TaskListRefused::Present { list: id, partitions })
            }
            Err(at) => self.try_change(|it| it.lists.insert(at, list)),
        }
    }

    /// Changes a list. One that the service declares can only be paused and resumed.
    pub fn set(&mut self, id: &TaskListId, change: TaskListChange) -> Result<(), TaskListRefused> {
        let at = self.known_place(id)?;
        let TaskListChange { partitions, weight, status, requires } = change;
        let shape = partitions.is_some() || weight.is_some() || requires.is_some();
        if shape && self.is_declared(id) {
            return Err(TaskListRefused::Declared { list: id.clone() });
        }
        self.try_change(|it| {
            let list = &mut it.lists[at];
            list.partitions = partitions.unwrap_or(list.partitions);
            list.weight = weight.unwrap_or(list.weight);
            list.status = status.unwrap_or(list.status);
            list.requires = requires.unwrap_or_else(|| list.requires.clone());
        })
    }

    /// Takes a list out: its partitions are released.
    pub fn remove(&mut self, id: &TaskListId) -> Result<TaskList, TaskListRefused> {
        let at = self.known_place(id)?;
        if self.is_declared(id) {
            return Err(TaskListRefused::Declared { list: id.clone() });
        }
        let removed = self.lists.remove(at);
        self.forget_what_is_gone();
        Ok(removed)
    }

    /// Is there such a partition?
    pub fn check_partition(&self, partition: &Partition) -> Result<(), TaskListRefused> {
        match self.lists[self.known_place(&partition.list)?].partitions {
            partitions if partition.number < partitions => Ok(()),
            partitions => {
                Err(TaskListRefused::NoPartition { partition: partition.clone(), partitions })
            }
        }
    }

    /// The partition is to be owned by this node for as long as the node takes partitions. Whether
    /// it does is for the caller to check.
    pub fn move_partition(
        &mut self,
        partition: Partition,
        to: NodeId,
    ) -> Result<(), TaskListRefused> {
        self.check_partition(&partition)?;
        let is_new = !self.moved.contains_key(&partition);
        match self.moved.len() + usize::from(is_new) {
            given if given > MOVES_MAX => Err(TaskListRefused::TooManyMoves { given }),
            _ => {
                self.moved.insert(partition, to);
                Ok(())
            }
        }
    }

    /// The partition goes wherever the shares of the nodes say. Returns the node that it was moved
    /// to.
    pub fn forget_move(&mut self, partition: &Partition) -> Result<NodeId, TaskListRefused> {
        let refused = || TaskListRefused::NotMoved { partition: partition.clone() };
        self.moved.remove(partition).ok_or_else(refused)
    }

    /// Pauses voluntary moves, or lets them go on. Says whether that is news.
    pub fn set_paused(&mut self, is_paused: bool) -> bool {
        std::mem::replace(&mut self.is_paused, is_paused) != is_paused
    }

    /// The service declares these lists, in the order of their ids, and no others: those that it
    /// declared before and does not any more are taken out, and one that was added by hand becomes
    /// declared. A list that is paused stays paused. Says whether anything changed.
    pub fn declare(&mut self, lists: &[TaskList]) -> Result<bool, TaskListRefused> {
        TaskList::check_all(lists)?;
        let before = self.clone();
        let undeclared = |it: &Self, id: &TaskListId| {
            it.is_declared(id) && !lists.iter().any(|list| list.id == *id)
        };
        self.try_change(|it| {
            let known = it.clone();
            it.lists.retain(|list| !undeclared(&known, &list.id));
            for list in lists {
                match it.place(&list.id) {
                    Ok(at) => {
                        let status = it.lists[at].status;
                        it.lists[at] = TaskList { status, ..list.clone() };
                    }
                    Err(at) => it.lists.insert(at, list.clone()),
                }
            }
            it.declared = lists.iter().map(|list| list.id.clone()).collect();
        })?;
        Ok(*self != before)
    }

    /// Changes nothing unless what comes of it is within the limits.
    fn try_change(&mut self, change: impl FnOnce(&mut Self)) -> Result<(), TaskListRefused> {
        let mut changed = self.clone();
        change(&mut changed);
        TaskList::check_all(&changed.lists)?;
        changed.forget_what_is_gone();
        *self = changed;
        Ok(())
    }

    /// Moves of partitions that are no more are not kept.
    fn forget_what_is_gone(&mut self) {
        let lists: BTreeMap<&TaskListId, u32> =
            self.lists.iter().map(|list| (&list.id, list.partitions)).collect();
        let is_there = |it: &Partition| lists.get(&it.list).is_some_and(|count| it.number < *count);
        self.moved.retain(|partition, _| is_there(partition));
    }

    fn place(&self, id: &TaskListId) -> Result<usize, usize> {
        self.lists.binary_search_by(|list| list.id.cmp(id))
    }

    fn known_place(&self, id: &TaskListId) -> Result<usize, TaskListRefused> {
        self.place(id).map_err(|at| {
            let nearest = self.lists.get(at).or(self.lists.last());
            TaskListRefused::Unknown {
                list: id.clone(),
                known: nearest.map(|list| list.id.clone()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TaskListId {
        text.parse().expect("a plain name")
    }

    fn list(name: &str, partitions: u32) -> TaskList {
        TaskList::new(id(name), partitions)
    }

    fn shown(lists: &TaskLists) -> Vec<(&str, u32)> {
        lists.all().iter().map(|list| (list.id.name(), list.partitions)).collect()
    }

    #[test]
    fn lists_are_added_changed_and_removed() {
        let mut lists = TaskLists::default();
        assert_eq!(lists.add(list("b", 4)), Ok(()));
        assert_eq!(lists.add(list("a", 2)), Ok(()));
        let refused = lists.add(list("b", 9)).expect_err("it is there").to_string();
        assert_eq!(
            refused,
            "task list default/b is there already, with 4 partitions; change it with set"
        );
        let grow = TaskListChange { partitions: Some(8), ..TaskListChange::default() };
        assert_eq!(lists.set(&id("b"), grow.clone()), Ok(()));
        assert_eq!(shown(&lists), [("a", 2), ("b", 8)]);
        let refused = lists.set(&id("aa"), grow).expect_err("there is none").to_string();
        assert_eq!(refused, "no task list is named default/aa; there is default/b");
        assert_eq!(lists.remove(&id("a")).map(|it| it.partitions), Ok(2));
        assert_eq!(shown(&lists), [("b", 8)]);
        let refused = TaskLists::default().remove(&id("a")).expect_err("there are none");
        assert_eq!(refused.to_string(), "no task list is named default/a, and there are no others");
    }

    #[test]
    fn a_change_beyond_the_limits_changes_nothing() {
        let mut lists = TaskLists::default();
        assert_eq!(lists.add(list("a", 600_000)), Ok(()));
        let before = lists.clone();
        let none = TaskListChange { partitions: Some(0), ..TaskListChange::default() };
        assert!(matches!(lists.set(&id("a"), none), Err(TaskListRefused::Invalid(_))));
        assert!(matches!(lists.add(list("b", 400_001)), Err(TaskListRefused::Invalid(_))));
        assert_eq!(lists, before);
    }

    #[test]
    fn moves_are_kept_until_they_are_forgotten_or_their_partitions_are_gone() {
        let mut lists = TaskLists::default();
        assert_eq!(lists.add(list("a", 2_000)), Ok(()));
        let (part, node) = (
            |number| Partition { list: id("a"), number },
            |name| NodeId::new(name).expect("a plain name"),
        );
        for number in 0..1_000 {
            assert_eq!(lists.move_partition(part(number), node("n")), Ok(()));
        }
        assert_eq!(lists.move_partition(part(0), node("m")), Ok(()), "it is moved already");
        let refused = |lists: &mut TaskLists, number| {
            lists.move_partition(part(number), node("n")).expect_err("refused").to_string()
        };
        assert_eq!(
            refused(&mut lists, 1_000),
            "1001 partitions would be kept where people moved them, and 1000 can be: forget a move \
             first"
        );
        assert_eq!(
            refused(&mut lists, 2_000),
            "there is no partition default/a#2000: the task list has 2000, and the last one is \
             number 1999"
        );
        assert_eq!(lists.forget_move(&part(0)), Ok(node("m")));
        let refused = lists.forget_move(&part(0)).expect_err("it is forgotten").to_string();
        assert_eq!(refused, "partition default/a#0 is not kept on any node by a move");
        let shrink = TaskListChange { partitions: Some(3), ..TaskListChange::default() };
        assert_eq!(lists.set(&id("a"), shrink), Ok(()));
        assert_eq!(lists.moved().keys().map(|it| it.number).collect::<Vec<_>>(), [1, 2]);
        let json = serde_json::to_string(&lists).expect("plain data");
        assert!(json.contains(r#""moved":{"default/a#1":"n","default/a#2":"n"}"#), "{json}");
        assert_eq!(serde_json::from_str::<TaskLists>(&json).ok(), Some(lists.clone()));
        assert_eq!(lists.remove(&id("a")).map(|it| it.partitions), Ok(3));
        assert_eq!(lists.moved().len(), 0);
    }

    #[test]
    fn a_document_without_moves_is_read_and_pauses_are_told() {
        let text = r#"{"format":1,"lists":[],"declared":[]}"#;
        let mut lists: TaskLists = serde_json::from_str(text).expect("an older document");
        assert_eq!(lists, TaskLists::default());
        assert!(lists.set_paused(true) && !lists.set_paused(true) && lists.is_paused());
        assert_eq!(lists.wanted(), Wanted { is_paused: true, ..Wanted::default() });
    }

    #[test]
    fn what_the_service_declares_is_applied_and_pruned_and_stays_paused() {
        let mut lists = TaskLists::default();
        assert_eq!(lists.add(list("by-hand", 1)), Ok(()));
        assert_eq!(lists.declare(&[list("a", 4), list("b", 4)]), Ok(true));
        assert_eq!(lists.declare(&[list("a", 4), list("b", 4)]), Ok(false));
        let pause =
            TaskListChange { status: Some(TaskListStatus::Paused), ..TaskListChange::default() };
        assert_eq!(lists.set(&id("a"), pause), Ok(()));
        let grow = TaskListChange { partitions: Some(8), ..TaskListChange::default() };
        let declared = Err(TaskListRefused::Declared { list: id("a") });
        assert_eq!(lists.set(&id("a"), grow), declared);
        assert!(lists.remove(&id("a")).is_err());
        assert_eq!(lists.declare(&[list("a", 8)]), Ok(true));
        assert_eq!(shown(&lists), [("a", 8), ("by-hand", 1)]);
        assert_eq!(lists.get(&id("a")).map(|it| it.status), Some(TaskListStatus::Paused));
        let json = serde_json::to_string(&lists).expect("plain data");
        let read: TaskLists = serde_json::from_str(&json).expect("its own text");
        assert_eq!((read.check_format(), &read), (Ok(()), &lists));
    }
}

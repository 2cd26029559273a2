//! The task lists of a namespace: one document, which people, programs and the leader change.
//!
//! ```text
//!   baton tasklists add, set, remove ──► added ──┐
//!   code or file of the leader ──► declared ─────┴──► TaskLists, by compare-and-set
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::task_list::{InvalidTaskList, TaskList, TaskListId, TaskListStatus};

/// The format of the document that this version writes.
const FORMAT: u32 = 1;

/// The task lists of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLists {
    format: u32,
    /// In the order of their ids.
    lists: Vec<TaskList>,
    /// The ids of those that the service declares.
    declared: Vec<TaskListId>,
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

/// Why the task lists were not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskListRefused {
    /// What was asked for is not within the limits.
    #[error(transparent)]
    Invalid(#[from] InvalidTaskList),
    /// There is one of this name.
    #[error("task list {list} is there already, with {partitions} partitions; change it with set")]
    Present {
        /// The list.
        list: TaskListId,
        /// How many partitions it has.
        partitions: u32,
    },
    /// There is none of this name.
    #[error("no task list is named {list}{}", known.as_ref().map_or_else(
        || ", and there are no others".to_owned(), |known| format!("; there is {known}")))]
    Unknown {
        /// The list.
        list: TaskListId,
        /// The name that is nearest in their order.
        known: Option<TaskListId>,
    },
    /// The service declares it.
    #[error(
        "task list {list} is declared by the service itself: change it there; it can be paused and \
         resumed here"
    )]
    Declared {
        /// The list.
        list: TaskListId,
    },
    /// The document is of another version.
    #[error("the task lists are of format {found}, and this version knows format {FORMAT}")]
    Format {
        /// The format found.
        found: u32,
    },
}

impl Default for TaskLists {
    fn default() -> Self {
        Self { format: FORMAT, lists: Vec::new(), declared: Vec::new() }
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
        Ok(self.lists.remove(at))
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
        *self = changed;
        Ok(())
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

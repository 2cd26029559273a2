//! Assignment documents: what one process may own, as the coordinator wrote it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::number_set::NumberSet;
use super::task_list::{Partition, TaskListId};
use crate::ids::{BootId, Epoch, Lineage, NodeId};

/// Rises with each owner of a partition, so that what a former owner writes can be refused.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(from = "(Epoch, u64)", into = "(Epoch, u64)")]
pub struct Token {
    /// The term in which the partition was given away.
    pub epoch: Epoch,
    /// Counts within the term, from 1.
    pub number: u64,
}

impl From<(Epoch, u64)> for Token {
    fn from((epoch, number): (Epoch, u64)) -> Self {
        Self { epoch, number }
    }
}

impl From<Token> for (Epoch, u64) {
    fn from(token: Token) -> Self {
        (token.epoch, token.number)
    }
}

/// Partitions of several task lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartitionSet(BTreeMap<TaskListId, NumberSet>);

impl PartitionSet {
    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many partitions it has.
    pub fn len(&self) -> usize {
        self.0.values().map(NumberSet::len).sum()
    }

    /// How many runs of numbers its text has.
    pub fn runs(&self) -> usize {
        self.0.values().map(NumberSet::runs).sum()
    }

    /// Is this partition in it?
    pub fn contains(&self, partition: &Partition) -> bool {
        self.0.get(&partition.list).is_some_and(|numbers| numbers.contains(partition.number))
    }

    /// Adds a partition; says whether it is new.
    pub fn insert(&mut self, partition: Partition) -> bool {
        self.0.entry(partition.list).or_default().insert(partition.number)
    }

    /// Its partitions, in order.
    pub fn iter(&self) -> impl Iterator<Item = Partition> + '_ {
        self.0.iter().flat_map(|(list, numbers)| {
            numbers.iter().map(|number| Partition { list: list.clone(), number })
        })
    }

    /// Its numbers, list by list.
    pub fn lists(&self) -> impl Iterator<Item = (&TaskListId, &NumberSet)> {
        self.0.iter()
    }
}

impl FromIterator<Partition> for PartitionSet {
    fn from_iter<T: IntoIterator<Item = Partition>>(partitions: T) -> Self {
        let mut lists: BTreeMap<TaskListId, Vec<u32>> = BTreeMap::new();
        for Partition { list, number } in partitions {
            lists.entry(list).or_default().push(number);
        }
        Self(
            lists
                .into_iter()
                .map(|(list, numbers)| (list, numbers.into_iter().collect()))
                .collect(),
        )
    }
}

/// Partitions that a process was given in one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// Their token.
    pub token: Token,
    /// The process owns them.
    #[serde(default, skip_serializing_if = "PartitionSet::is_empty")]
    pub hold: PartitionSet,
    /// The process is to stop them. They are its own until it says that it did.
    #[serde(default, skip_serializing_if = "PartitionSet::is_empty")]
    pub release: PartitionSet,
}

/// The content of an assignment document. A document is a slot: it belongs to one process at a
/// time, and to another once nothing in it is that process's any more.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Assignment {
    /// Whose it is.
    pub node: NodeId,
    /// The process.
    pub boot: BootId,
    /// The session of the process that it is for: in any other it gives nothing.
    #[serde(default)]
    pub session: u64,
    /// The line of history that it was written in.
    pub lineage: Lineage,
    /// What the process has, the oldest first. A partition is in one of them.
    pub grants: Vec<Grant>,
}

impl Assignment {
    /// The name of the document of a slot.
    pub fn document(slot: u32) -> String {
        format!("baton:partitions:{slot}")
    }

    /// What the process may run, each with its token.
    pub fn held(&self) -> impl Iterator<Item = (Partition, Token)> + '_ {
        self.grants.iter().flat_map(|grant| grant.hold.iter().map(|it| (it, grant.token)))
    }

    /// What it is to stop, each with its token.
    pub fn released(&self) -> impl Iterator<Item = (Partition, Token)> + '_ {
        self.grants.iter().flat_map(|grant| grant.release.iter().map(|it| (it, grant.token)))
    }
}

/// A slot, and the version of its document.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct AssignmentVersion {
    /// The slot.
    pub slot: u32,
    /// The version of its document.
    pub version: u64,
}

/// What a process says of its partitions with every beat.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PartitionReport {
    /// The line of history whose documents it goes by. It runs nothing that one of another line
    /// gave it, but what is stopping.
    pub lineage: Lineage,
    /// Counts how often it had to give up everything, because it could not tell any more whether it
    /// counts as silent. It runs nothing that a document of an earlier session gave it, but what is
    /// stopping.
    pub session: u64,
    /// It runs nothing that this version of its document took from it, but what is stopping.
    /// Version 0 until it has read a document of its session.
    #[serde(default)]
    pub acked: AssignmentVersion,
    /// What still runs although it is to stop.
    #[serde(default, skip_serializing_if = "PartitionSet::is_empty")]
    pub stopping: PartitionSet,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_kept_short() {
        let list = |text: &str| text.parse::<TaskListId>().expect("a plain name");
        let part = |id: &str, number| Partition { list: list(id), number };
        let mut release = PartitionSet::default();
        assert!(release.insert(part("b", 4)) && !release.insert(part("b", 4)));
        let hold: PartitionSet = (0..10).map(|number| part("a", number * 3)).collect();
        assert_eq!((hold.len(), hold.runs()), (10, 1));
        assert!(hold.contains(&part("a", 9)) && !hold.contains(&part("a", 10)));
        let token = Token { epoch: Epoch(7), number: 2 };
        let assignment = Assignment {
            node: NodeId::new("n-1").expect("a plain name"),
            boot: BootId(5),
            session: 1,
            lineage: Lineage(1),
            grants: vec![Grant { token, hold, release }],
        };
        let json = serde_json::to_string(&assignment).expect("plain data");
        assert_eq!(serde_json::from_str::<Assignment>(&json).expect("its own text"), assignment);
        let grants = json.split_once("\"grants\":").expect("the last field").1;
        let wanted =
            r#"[{"token":[7,2],"hold":{"default/a":"0-27/3"},"release":{"default/b":"4"}}]}"#;
        assert_eq!(grants, wanted);
        let numbers: Vec<_> = assignment.grants[0].hold.iter().map(|it| it.number).collect();
        assert_eq!(numbers[..3], [0, 3, 6]);
    }
}

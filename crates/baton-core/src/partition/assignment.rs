//! Assignment documents: what one process may own, as the coordinator wrote it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::number_set::NumberSet;
use super::task_list::{Partition, TaskListId};
use crate::ids::{BootId, Epoch, Lineage, NodeId};

/// The fencing number of a partition: higher with each of its owners, through all terms. What a
/// former owner writes can be refused by it. Coordinators count on from the highest that stands in
/// any document, and leap as epochs do when the store's data went back.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Token(pub u64);

impl Token {
    /// How far tokens leap for each lineage that has passed: more than are given in the time that
    /// the stores count as one, which is a minute at most, and too few to ever reach the end.
    const LEAP: u64 = 100_000;

    /// As high as no token of an earlier line of history, for when nothing is left of them.
    #[must_use]
    pub fn first_in(lineage: Lineage) -> Self {
        Self::default().leap(Lineage(0), lineage)
    }

    /// The token after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// No token that was given after this one, in a line of history that followed and is lost, is
    /// as high. `given` and `now` are the lines in which this one was given, and the present one.
    #[must_use]
    pub fn leap(self, given: Lineage, now: Lineage) -> Self {
        let passed = now.0.saturating_sub(given.0);
        Self(self.0.saturating_add(Self::LEAP.saturating_mul(passed)))
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A fence compares tokens as it compares epochs. Each partition is a resource of its own.
impl From<Token> for Epoch {
    fn from(token: Token) -> Self {
        Self(token.0)
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

    /// Its text has no more bytes than this.
    fn bytes_max(&self) -> usize {
        const RUN_MAX: usize = "1000000-1000000/1000000,".len();
        let of = |(list, numbers): (&TaskListId, &NumberSet)| {
            list.as_str().len() + numbers.runs() * RUN_MAX + "\"\":\"\",".len()
        };
        self.0.iter().map(of).sum()
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
    /// The highest token that had been given when it was written: the next coordinator counts on.
    pub highest: Token,
    /// What the process has, the oldest first. A partition is in one of them.
    pub grants: Vec<Grant>,
}

impl Assignment {
    /// The name of the document of a slot.
    pub fn document(slot: u32) -> String {
        format!("baton:partitions:{slot}")
    }

    /// Its text has no more bytes than this.
    pub(super) fn bytes_max(&self) -> usize {
        const GRANT_MAX: usize = r#"{"token":18446744073709551615,"hold":{},"release":{}},"#.len();
        // Everything but the grants: names, and numbers of 39 digits at most.
        const FIELDS_MAX: usize = 250;
        let of = |grant: &Grant| GRANT_MAX + grant.hold.bytes_max() + grant.release.bytes_max();
        FIELDS_MAX + self.node.as_str().len() + self.grants.iter().map(of).sum::<usize>()
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
        let token = Token(7);
        let assignment = Assignment {
            node: NodeId::new("n-1").expect("a plain name"),
            boot: BootId(5),
            session: 1,
            lineage: Lineage(1),
            highest: Token(9),
            grants: vec![Grant { token, hold, release }],
        };
        let json = serde_json::to_string(&assignment).expect("plain data");
        assert!(json.len() <= assignment.bytes_max() && assignment.bytes_max() < 3 * json.len());
        assert_eq!(serde_json::from_str::<Assignment>(&json).expect("its own text"), assignment);
        let grants = json.split_once("\"grants\":").expect("the last field").1;
        let wanted = r#"[{"token":7,"hold":{"default/a":"0-27/3"},"release":{"default/b":"4"}}]}"#;
        assert_eq!(grants, wanted);
        let numbers: Vec<_> = assignment.grants[0].hold.iter().map(|it| it.number).collect();
        assert_eq!(numbers[..3], [0, 3, 6]);
    }
}

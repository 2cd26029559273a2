//! Task lists: named sets of numbered partitions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{InvalidName, check_name};

/// The most partitions of a namespace, in all its task lists.
pub const PARTITIONS_MAX: u32 = 1_000_000;

/// The largest weight of a partition and of a node.
pub const WEIGHT_MAX: u32 = 1_000;

/// The domain of a task list that names none.
const DEFAULT_DOMAIN: &str = "default";

/// Names a task list: its domain and its name in it, as `domain/name`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskListId(Arc<str>);

impl TaskListId {
    /// The id of a list in a domain.
    pub fn new(domain: &str, name: &str) -> Result<Self, InvalidName> {
        check_name("domain", domain)?;
        check_name("task list", name)?;
        Ok(Self(Arc::from(format!("{domain}/{name}"))))
    }

    /// `domain/name`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The domain.
    pub fn domain(&self) -> &str {
        self.0.split_once('/').map_or(DEFAULT_DOMAIN, |(domain, _)| domain)
    }

    /// The name within the domain.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(&*self.0, |(_, name)| name)
    }
}

/// Reads `domain/name`, or `name` alone for the domain `default`.
impl FromStr for TaskListId {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let (domain, name) = text.split_once('/').unwrap_or((DEFAULT_DOMAIN, text));
        Self::new(domain, name)
    }
}

impl TryFrom<String> for TaskListId {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        text.parse()
    }
}

impl From<TaskListId> for String {
    fn from(id: TaskListId) -> Self {
        id.0.to_string()
    }
}

impl fmt::Display for TaskListId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TaskListId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One partition, shown and written as `domain/name#number`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Partition {
    /// Its task list.
    pub list: TaskListId,
    /// Its number in the list, from 0.
    pub number: u32,
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.list, self.number)
    }
}

/// Why a text names no partition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPartition {
    /// It has no number.
    #[error("{text:?} has no partition number: write LIST#NUMBER, such as orders#7")]
    NoNumber {
        /// The text.
        text: String,
    },
    /// It has no name of a task list.
    #[error(transparent)]
    List(#[from] InvalidName),
}

/// Reads `domain/name#number`, or `name#number` for the domain `default`.
impl FromStr for Partition {
    type Err = InvalidPartition;

    fn from_str(text: &str) -> Result<Self, InvalidPartition> {
        let no_number = || InvalidPartition::NoNumber { text: text.to_owned() };
        let (list, number) = text.split_once('#').ok_or_else(no_number)?;
        let is_plain = number.bytes().all(|digit| digit.is_ascii_digit());
        let number = number.parse().ok().filter(|_| is_plain).ok_or_else(no_number)?;
        Ok(Self { list: list.parse()?, number })
    }
}

impl TryFrom<String> for Partition {
    type Error = InvalidPartition;

    fn try_from(text: String) -> Result<Self, InvalidPartition> {
        text.parse()
    }
}

impl From<Partition> for String {
    fn from(partition: Partition) -> Self {
        partition.to_string()
    }
}

/// Whether a task list has owners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskListStatus {
    /// Its partitions are assigned.
    #[default]
    Active,
    /// Its partitions are released, and wait.
    Paused,
}

/// A task list as it is registered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TaskList {
    /// Its name.
    pub id: TaskListId,
    /// How many partitions it has.
    pub partitions: u32,
    /// What one of its partitions weighs.
    #[serde(default = "one")]
    pub weight: u32,
    /// Whether its partitions have owners.
    #[serde(default)]
    pub status: TaskListStatus,
    /// Only nodes that have all these labels own its partitions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requires: BTreeMap<String, String>,
}

fn one() -> u32 {
    1
}

/// Why a task list was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTaskList {
    /// Its id is not one.
    #[error(transparent)]
    Id(#[from] InvalidName),
    /// A number is too small or too large.
    #[error("task list {list}: {field} is {given}; it must be 1 to {most}")]
    OutOfRange {
        /// The list.
        list: TaskListId,
        /// Which number.
        field: &'static str,
        /// What was given.
        given: u32,
        /// The largest that is allowed.
        most: u32,
    },
    /// Two lists have one id.
    #[error("two task lists are named {list}: each name can be used once in a namespace")]
    Twice {
        /// The list.
        list: TaskListId,
    },
    /// All lists together have too many partitions.
    #[error("the task lists have {given} partitions; a namespace can have {PARTITIONS_MAX}")]
    TooManyPartitions {
        /// How many they have.
        given: u64,
    },
}

impl TaskList {
    /// An active list of partitions of weight 1.
    pub fn new(id: TaskListId, partitions: u32) -> Self {
        let (status, requires) = (TaskListStatus::Active, BTreeMap::new());
        Self { id, partitions, weight: 1, status, requires }
    }

    /// Is the list within the limits?
    pub fn check(&self) -> Result<(), InvalidTaskList> {
        let limits =
            [("partitions", self.partitions, PARTITIONS_MAX), ("weight", self.weight, WEIGHT_MAX)];
        for (field, given, most) in limits {
            if !(1..=most).contains(&given) {
                let list = self.id.clone();
                return Err(InvalidTaskList::OutOfRange { list, field, given, most });
            }
        }
        Ok(())
    }

    /// Is each of these lists within the limits, are their names different, and are all of them
    /// together within the limits? They come in the order of their ids.
    pub fn check_all(lists: &[Self]) -> Result<(), InvalidTaskList> {
        lists.iter().try_for_each(Self::check)?;
        if let Some(pair) = lists.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(InvalidTaskList::Twice { list: pair[0].id.clone() });
        }
        let given = lists.iter().map(|list| u64::from(list.partitions)).sum();
        if given > u64::from(PARTITIONS_MAX) {
            return Err(InvalidTaskList::TooManyPartitions { given });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(id: &str, partitions: u32) -> TaskList {
        TaskList::new(id.parse().expect("a plain name"), partitions)
    }

    #[test]
    fn a_list_is_named_with_its_domain_or_without() {
        assert_eq!(list("orders", 1).id.as_str(), "default/orders");
        let id = list("shop/orders", 1).id;
        assert_eq!((id.domain(), id.name()), ("shop", "orders"));
        let json = serde_json::to_string(&id).expect("plain data");
        assert_eq!(
            (json.as_str(), serde_json::from_str(&json).ok()),
            ("\"shop/orders\"", Some(id))
        );
        let refused = |text: &str| text.parse::<TaskListId>().expect_err("no name").to_string();
        assert!(refused("shop/").starts_with("task list is empty"));
        assert!(refused("/orders").starts_with("domain is empty"));
        assert!(refused("a/b/c").starts_with("task list has '/' at position 2"));
    }

    #[test]
    fn a_partition_is_named_with_its_list_and_its_number() {
        let read = |text: &str| text.parse::<Partition>().map_err(|it| it.to_string());
        let partition = read("shop/orders#7").expect("a partition");
        assert_eq!((partition.list.name(), partition.number), ("orders", 7));
        assert_eq!(read("orders#0").map(|it| it.to_string()), Ok("default/orders#0".to_owned()));
        let json = serde_json::to_string(&partition).expect("plain data");
        assert_eq!(json, "\"shop/orders#7\"");
        assert_eq!(serde_json::from_str(&json).ok(), Some(partition));
        for text in ["orders", "orders#", "orders#+7", "orders#-1", "orders#4294967296"] {
            let expected = "has no partition number: write LIST#NUMBER, such as orders#7";
            assert!(read(text).is_err_and(|it| it.ends_with(expected)), "{text}");
        }
        assert!(read("#7").is_err_and(|it| it.starts_with("task list is empty")));
    }

    #[test]
    fn what_is_refused_is_named_with_both_numbers() {
        let refused = |lists: &[TaskList]| TaskList::check_all(lists).expect_err("bad").to_string();
        assert_eq!(
            refused(&[list("a", 0)]),
            "task list default/a: partitions is 0; it must be 1 to 1000000"
        );
        assert_eq!(
            refused(&[TaskList { weight: 1_001, ..list("a", 1) }]),
            "task list default/a: weight is 1001; it must be 1 to 1000"
        );
        assert_eq!(
            refused(&[list("a", 1), list("a", 2)]),
            "two task lists are named default/a: each name can be used once in a namespace"
        );
        assert_eq!(
            refused(&[list("a", 600_000), list("b", 600_000)]),
            "the task lists have 1200000 partitions; a namespace can have 1000000"
        );
        assert_eq!(TaskList::check_all(&[list("a", 1), list("b", 999_999)]), Ok(()));
    }
}

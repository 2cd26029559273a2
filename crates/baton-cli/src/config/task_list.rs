//! `[[task_list]]` tables of the file: named sets of partitions that `baton serve` declares, and
//! that the nodes of the service own.

use std::collections::BTreeMap;
use std::path::Path;

use baton::partitions::{TaskList, TaskListId};
use toml::Value;

use super::ConfigError;
use super::setting_values::Source;
use super::table_reader::{TableReader, tables};
use super::value::bare;

/// Every key that such a table may have.
const KEYS: [&str; 4] = ["name", "partitions", "weight", "requires"];

/// One `[[task_list]]` table.
#[derive(Clone, Debug)]
pub struct TaskListTable {
    pub source: Source,
    /// The table as it stands in the file.
    pub shown: toml::Table,
    /// The list. It was checked.
    pub list: TaskList,
}

/// Reads what the file has under `task_list`, and checks the lists together.
pub fn read(file: &Path, value: &Value) -> Result<Vec<TaskListTable>, ConfigError> {
    let mut lists: Vec<TaskList> = Vec::new();
    let mut read = Vec::new();
    for mut table in tables(file, "task_list", value)? {
        let list = read_list(&mut table)?;
        let at = lists.partition_point(|known| known.id <= list.id);
        lists.insert(at, list.clone());
        let refuse = |problem| ConfigError::refused(&table.place(), &problem);
        TaskList::check_all(&lists).map_err(refuse)?;
        read.push(TaskListTable { source: table.source(), shown: table.table().clone(), list });
    }
    Ok(read)
}

fn read_list(table: &mut TableReader<'_>) -> Result<TaskList, ConfigError> {
    let named = table.text("name")?;
    if let Some(name) = named.as_deref().filter(|name| !name.is_empty()) {
        table.describes(format!("task list {name}"));
    }
    table.check_keys(&KEYS)?;
    let missing = || table.refuse("name", "is missing; write name = \"orders\"");
    let named = named.ok_or_else(missing)?;
    let id: TaskListId =
        named.parse().map_err(|problem| table.refuse("name", format!("is refused: {problem}")))?;
    let missing = || table.refuse("partitions", "is missing; write partitions = 12");
    let partitions = table.count_or_zero("partitions")?.ok_or_else(missing)?;
    let weight = table.count_or_zero("weight")?.unwrap_or(1);
    let requires = table.parsed("requires", labels, LABELS)?.unwrap_or_default();
    Ok(TaskList { weight, requires, ..TaskList::new(id, partitions) })
}

const LABELS: &str = "is not a table of labels; write requires = { disk = \"ssd\" }";

/// Labels and the values that a node must have.
fn labels(value: &Value) -> Option<BTreeMap<String, String>> {
    let label = |(name, value): (&String, &Value)| match value {
        Value::Array(_) | Value::Table(_) => None,
        single => Some((name.clone(), bare(single))),
    };
    value.as_table()?.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<TaskListTable>, String> {
        let table: toml::Table = toml::from_str(text).expect("it is TOML");
        read(Path::new("baton.toml"), &table["task_list"]).map_err(|problem| problem.to_string())
    }

    #[test]
    fn every_key_is_read() {
        let text = "[[task_list]]\nname = 'shop/orders'\npartitions = 12\nweight = 3\n\
                    requires = { disk = 'ssd', tier = 1 }\n\
                    [[task_list]]\nname = 'mail'\npartitions = 4";
        let all = parsed(text).expect("a sound file");
        let orders = &all[0].list;
        assert_eq!((orders.id.as_str(), orders.partitions, orders.weight), ("shop/orders", 12, 3));
        let labels: Vec<_> =
            orders.requires.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(labels, [("disk", "ssd"), ("tier", "1")]);
        assert_eq!(all[1].list, TaskList::new("mail".parse().expect("a plain name"), 4));
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_its_table_and_field() {
        let cases = [
            ("partitions = 4", "[[task_list]] 1: name is missing; write name = \"orders\""),
            ("name = 'a'", "[[task_list]] 1: task list a: partitions is missing; write"),
            (
                "name = 'a b'\npartitions = 4",
                "task list a b: name = \"a b\" is refused: task list has",
            ),
            ("name = 'a'\npartitions = '4'", "partitions = \"4\" is not a whole number from 0"),
            (
                "name = 'a'\npartitions = 0",
                "[[task_list]] 1: task list default/a: partitions is 0; it must be 1 to 1000000",
            ),
            (
                "name = 'a'\npartitions = 4\nweight = 2000",
                "[[task_list]] 1: task list default/a: weight is 2000; it must be 1 to 1000",
            ),
            (
                "name = 'a'\npartitions = 4\nrequires = ['ssd']",
                "requires = [\"ssd\"] is not a table of labels; write requires = { disk = ",
            ),
            (
                "name = 'a'\npartitons = 4",
                "unknown setting partitons in [[task_list]] 1; did you mean partitions?",
            ),
            (
                "name = 'a'\npartitions = 4\n[[task_list]]\nname = 'default/a'\npartitions = 4",
                "[[task_list]] 2: two task lists are named default/a: each name can be used once",
            ),
        ];
        for (text, expected) in cases {
            let message = parsed(&format!("[[task_list]]\n{text}")).expect_err(expected);
            assert!(message.starts_with("baton.toml: "), "{message}");
            assert!(message.contains(expected), "{expected:?} is not in {message:?}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
        let message = parsed("task_list = 5").expect_err("no table");
        assert!(message.contains("write each under a line [[task_list]]"), "{message}");
    }
}

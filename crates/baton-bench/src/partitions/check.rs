//! What is judged of owners: what their logs show, and that no late write counts.

use std::collections::BTreeMap;

use baton::partitions::Partition;
use baton_cli::cluster::owners::Findings;

use super::owner::notes::AcknowledgedWrite;
use crate::report::Report;

/// How many findings of a kind are shown.
const SHOWN: usize = 5;

/// The writes for the partitions of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    pub acknowledged: Vec<AcknowledgedWrite>,
    /// How many writes came too late, and were refused.
    pub refused: u64,
}

impl Writes {
    /// Writes of former owners that were taken, and writes that count twice. In the order in which
    /// the store took them, tokens do not fall, and no write has the number of another.
    pub fn late(&self) -> Vec<String> {
        let mut sorted: BTreeMap<&Partition, Vec<&AcknowledgedWrite>> = BTreeMap::new();
        for write in &self.acknowledged {
            sorted.entry(&write.partition).or_default().push(write);
        }
        let mut late = Vec::new();
        for writes in sorted.values_mut() {
            writes.sort_by_key(|write| write.count);
            let pairs = writes.windows(2);
            let wrong = pairs.filter(|it| it[1].token < it[0].token || it[1].count == it[0].count);
            late.extend(wrong.map(|it| format!("{:?} after {:?}", it[1], it[0])));
        }
        late
    }
}

/// Adds what must not be to a report.
pub fn add_to_report(found: &Findings, name: &str, report: &mut Report) {
    must_be_none(&format!("{name}: double owners"), &found.doubled, report);
    must_be_none(&format!("{name}: tokens that did not rise"), &found.unordered, report);
}

/// Adds a check that there is none of these, and some of them if there are any.
pub fn must_be_none(name: &str, found: &[String], report: &mut Report) {
    report.must_be_none(name, found.len());
    for line in found.iter().take(SHOWN) {
        report.note(format!("{name}: {line}"));
    }
}

#[cfg(test)]
mod tests {
    use baton::partitions::Token;

    use super::*;

    fn late(writes: &[(u64, u64)]) -> usize {
        let partition = Partition { list: "orders".parse().expect("a plain name"), number: 7 };
        let write = |(count, token): &(u64, u64)| AcknowledgedWrite {
            partition: partition.clone(),
            token: Token(*token),
            count: *count,
        };
        let acknowledged = writes.iter().map(write).collect();
        Writes { acknowledged, refused: 0 }.late().len()
    }

    #[test]
    fn a_late_write_and_one_that_counts_twice_are_found() {
        assert_eq!(late(&[(2, 2), (1, 1), (3, 2)]), 0);
        assert_eq!(late(&[(2, 1), (1, 2)]), 1);
        assert_eq!(late(&[(2, 1), (2, 2)]), 1);
    }
}

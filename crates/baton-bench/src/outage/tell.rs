//! The records of all stores in one table, and what must hold on each.

use std::collections::BTreeMap;

use baton::Settings;

use super::record::Record;
use crate::cli::Outage;
use crate::ground::StoreKind;
use crate::report::{Report, Sheet};

/// The columns.
pub const HEAD: [&str; 8] =
    ["STORE", "RECOVERY s", "LED ON s", "EPOCHS", "OPEN", "PROBES", "CLOSED", "AT ONCE"];

/// Judges every store.
pub fn tell(records: &BTreeMap<StoreKind, Record>, options: &Outage, report: &mut Report) {
    let title = format!("{} nodes, gone for {} s", options.nodes, options.seconds);
    let mut sheet = Sheet::new(title, &HEAD);
    for (kind, record) in records {
        sheet.row(record.cells(kind.name()));
    }
    report.sheet(sheet);
    let late = late(records);
    report.must(
        "stores back within one lease, 15 s",
        late.is_empty(),
        share(records, &late),
        "all",
    );
    let nodes = options.nodes as usize;
    let fewest = records.values().map(Record::closed).min().unwrap_or(0);
    let name = "breakers opened, probed and closed, the fewest";
    report.must(name, fewest == nodes, fewest.to_string(), nodes.to_string());
    let most = records.values().map(Record::most_at_once).max().unwrap_or(0);
    report.must("leaders at one time, the most", most == 1, most.to_string(), "1");
    let overlaps = records.values().map(Record::overlaps).sum();
    report.must_be_none("terms that overlap or do not rise", overlaps);
    let again = records.values().map(Record::superseded).sum();
    report.must_be_none("nodes that were started again", again);
    report.note("LED ON: how long the last coordinator led on. EPOCHS: before and after.".into());
    report.note("OPEN, CLOSED: nodes whose breaker did. AT ONCE: the most leaders.".into());
    if late.contains(&StoreKind::Redis) {
        report.note(
            "redis: a restarted server may have lost a grant, so that claims wait for".into(),
        );
        report.note("one whole lease from the first look at it (docs/guarantees.md)".into());
    }
}

/// The stores on which nobody led within one lease of their return.
fn late(records: &BTreeMap<StoreKind, Record>) -> Vec<StoreKind> {
    let lease = Settings::default().lease_timeout.as_millis();
    let in_time = |record: &Record| record.recovery_ms.is_some_and(|ms| u128::from(ms) <= lease);
    records.iter().filter(|(_, record)| !in_time(record)).map(|(kind, _)| *kind).collect()
}

fn share(records: &BTreeMap<StoreKind, Record>, late: &[StoreKind]) -> String {
    format!("{} of {}", records.len() - late.len(), records.len())
}

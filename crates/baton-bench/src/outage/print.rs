//! The records of all stores in one table, and what must hold on each.

use std::collections::BTreeMap;
use std::time::Duration;

use baton::Settings;

use super::record::Record;
use crate::cli::Outage;
use crate::fixture::StoreKind;
use crate::report::{Report, TextTable};

/// The columns.
pub const HEAD: [&str; 8] =
    ["STORE", "RECOVERY s", "LED ON s", "EPOCHS", "OPEN", "PROBES", "CLOSED", "AT ONCE"];

/// Judges every store.
pub fn add_to_report(records: &BTreeMap<StoreKind, Record>, options: &Outage, report: &mut Report) {
    let title = format!("{} nodes, gone for {} s", options.nodes, options.seconds);
    let mut table = TextTable::new(title, &HEAD);
    for (kind, record) in records {
        table.row(record.cells(kind.name()));
    }
    report.table(table);
    let settings = Settings::default();
    let (lossy, durable): (Vec<_>, Vec<_>) =
        records.iter().partition(|(kind, _)| **kind == StoreKind::Redis);
    judge_return(report, "stores back within one lease", &durable, settings.lease_timeout);
    if !lossy.is_empty() {
        // A lost grant is waited out from the first look, which comes within a beat.
        let drifted = settings.lease_timeout.mul_f64(1.0 + settings.clock_drift_max);
        let bound = drifted + settings.safety_margin + settings.heartbeat_interval;
        judge_return(report, "redis back once a lost lease is over", &lossy, bound);
    }
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
    report.note("LED ON: how long the last leader led on. EPOCHS: before and after.".into());
    report.note("OPEN, CLOSED: nodes whose breaker did. AT ONCE: the most leaders.".into());
    report.note(
        "redis: synced once a second, so that a restart may have lost a grant, which is".into(),
    );
    report.note("waited out; redis-always: appendfsync always, and the URL says so".into());
}

/// Did a node lead again this soon on all of these?
fn judge_return(
    report: &mut Report,
    name: &str,
    records: &[(&StoreKind, &Record)],
    bound: Duration,
) {
    let in_time =
        |record: &Record| record.recovery_ms.is_some_and(|ms| Duration::from_millis(ms) <= bound);
    let (back, all) = (records.iter().filter(|(_, record)| in_time(record)).count(), records.len());
    let name = format!("{name}, {:.1} s", bound.as_secs_f64());
    report.must(&name, back == all, format!("{back} of {all}"), "all");
}

//! Counters.

use std::fmt::Write;

use baton_core::ids::{Lineage, Namespace};
use baton_store::{
    Change, CounterAnswer, CounterCall, CounterName, Delta, Reading, StoreError, Tally,
};
use mysql_async::Row;

use super::row::{Columns, only};
use super::statement::{Bytes, Statement, Text, literal};

const READ: &str = include_str!("sql/read_counters.sql");

fn record(namespace: &Namespace) -> String {
    format!("the counters of namespace {namespace}")
}

/// The statement of a call; `None` if its answer needs none.
pub(super) fn statement(
    prefix: &str,
    namespace: &Namespace,
    seen: Lineage,
    call: &CounterCall,
) -> Option<String> {
    Some(match call {
        CounterCall::Append { writer, number, deltas } => Statement::call(prefix, "append_deltas")
            .with(namespace)
            .with(writer)
            .with(*number)
            .with(Text(&listed(deltas)))
            .text(),
        CounterCall::Consolidate { fence, limit } => Statement::call(prefix, "consolidate")
            .with(namespace)
            .with(seen)
            .with(fence)
            .with(u64::from(*limit))
            .text(),
        CounterCall::Collect { fence, silent_for, limit } => {
            let silent_us = u64::try_from(silent_for.as_micros()).unwrap_or(u64::MAX);
            Statement::call(prefix, "forget_writers")
                .with(namespace)
                .with(seen)
                .with(fence)
                .with(silent_us)
                .with(u64::from(*limit))
                .text()
        }
        CounterCall::Read { counters } => {
            let names: Vec<String> = counters.iter().map(name_literal).collect();
            if names.is_empty() {
                return None;
            }
            let filter = format!("name IN ({})", names.join(","));
            read(prefix, namespace, &filter, names.len() as u64)
        }
        CounterCall::List { prefix: begins, after, limit } => {
            let after = after.as_ref().map_or_else(|| literal(Bytes(b"")), name_literal);
            let (bytes, begins) = (begins.len(), literal(Bytes(begins.as_bytes())));
            let filter = format!("name > {after} AND LEFT(name, {bytes}) = {begins}");
            read(prefix, namespace, &filter, u64::from(*limit))
        }
    })
}

fn name_literal(name: &CounterName) -> String {
    literal(Bytes(name.as_str().as_bytes()))
}

fn read(prefix: &str, namespace: &Namespace, filter: &str, limit: u64) -> String {
    READ.replace("{prefix}", prefix)
        .replace("{namespace}", &literal(namespace))
        .replace("{filter}", filter)
        .replace("{limit}", &limit.to_string())
}

/// The changes as the procedure wants them. Digits cannot be mistaken for anything else.
fn listed(deltas: &[Delta]) -> String {
    let mut text = "[".to_owned();
    for delta in deltas {
        let (is_set, amount) = match delta.change {
            Change::Add(amount) => (0, amount),
            Change::Set(amount) => (1, amount),
        };
        text.push_str(if text.len() == 1 { "[\"" } else { ",[\"" });
        for byte in delta.counter.as_str().bytes() {
            write!(text, "{byte:02x}").expect("a string takes all that is written to it");
        }
        write!(text, "\",{is_set},{amount}]").expect("a string takes all that is written to it");
    }
    text + "]"
}

/// The answer to a call, and the lineage it took place in, if that is told.
pub(super) fn answer(
    rows: &[Row],
    namespace: &Namespace,
    call: &CounterCall,
) -> Result<(Option<Lineage>, CounterAnswer), StoreError> {
    let record = record(namespace);
    match call {
        CounterCall::Append { .. } => Ok((None, CounterAnswer::Appended)),
        CounterCall::Read { .. } | CounterCall::List { .. } => {
            let readings = rows.iter().map(|row| reading(&Columns::new(row, &record)));
            Ok((None, CounterAnswer::Readings(readings.collect::<Result<_, _>>()?)))
        }
        CounterCall::Consolidate { .. } | CounterCall::Collect { .. } => {
            let columns = only(rows, &record)?;
            let (applied, more) = (columns.number("applied")?, columns.flag("more")?);
            let told = match (columns.number::<u64>("outcome")?, call) {
                (1, CounterCall::Collect { .. }) => CounterAnswer::Collected(applied),
                (1, _) => CounterAnswer::Consolidated { applied, more },
                _ => CounterAnswer::Fenced,
            };
            Ok((Some(Lineage(columns.number("lineage")?)), told))
        }
    }
}

fn reading(columns: &Columns<'_>) -> Result<Reading, StoreError> {
    let name = std::str::from_utf8(columns.bytes("name")?).ok();
    let name = name.and_then(|text| CounterName::new(text).ok());
    let total: i128 = columns.number("total")?;
    let value = total.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    let fits = i64::try_from(value).map_err(|error| columns.spoilt(error.to_string()))?;
    Ok(Reading {
        counter: name.ok_or_else(|| columns.spoilt("a name is not one"))?,
        consolidated: Tally {
            value: columns.number("value")?,
            overflowed: columns.flag("overflowed")?,
        },
        current: Tally { value: fits, overflowed: columns.flag("is_over")? || total != value },
    })
}

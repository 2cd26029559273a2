//! Counters.

use std::fmt::Write;

use baton_store::{Change, CounterAnswer, CounterCall, CounterName, CounterValue, Delta, Reading};
use mysql_async::Row;

use super::context::CallContext;
use super::statement::{Bytes, Statement, Text, literal};
use crate::driver::{DriverError, Record};

const READ: &str = include_str!("sql/read_counters.sql");

/// Carries the call out.
pub(super) async fn perform(
    context: &CallContext<'_>,
    call: &CounterCall,
) -> Result<CounterAnswer, DriverError> {
    match call {
        CounterCall::Append { writer, number, deltas } => {
            let call = Statement::call(context.prefix(), "append_deltas").with(context.namespace);
            let call = call.with(writer).with(*number).with(Text(&listed(deltas)));
            context.rows(call.text()).await?;
            Ok(CounterAnswer::Appended)
        }
        CounterCall::Consolidate { fence, limit } => {
            let call = context.procedure("consolidate").with(fence).with(u64::from(*limit));
            fenced(context, call, |applied, more| CounterAnswer::Consolidated { applied, more })
                .await
        }
        CounterCall::Collect { fence, silent_for, limit } => {
            let silent_us = u64::try_from(silent_for.as_micros()).unwrap_or(u64::MAX);
            let call = context.procedure("forget_writers").with(fence).with(silent_us);
            let collected = |writers, _| CounterAnswer::Collected(writers);
            fenced(context, call.with(u64::from(*limit)), collected).await
        }
        CounterCall::Read { counters } if counters.is_empty() => {
            Ok(CounterAnswer::Readings(Vec::new()))
        }
        CounterCall::Read { counters } => {
            let names: Vec<String> = counters.iter().map(name_literal).collect();
            let filter = format!("name IN ({})", names.join(","));
            readings(context, &filter, names.len() as u64).await
        }
        CounterCall::List { prefix, after, limit } => {
            let after = after.as_ref().map_or_else(|| literal(Bytes(b"")), name_literal);
            let (bytes, prefix) = (prefix.len(), literal(Bytes(prefix.as_bytes())));
            let filter = format!("name > {after} AND LEFT(name, {bytes}) = {prefix}");
            readings(context, &filter, u64::from(*limit)).await
        }
    }
}

/// Calls a procedure that answers with how many were dealt with and whether there are more.
async fn fenced(
    context: &CallContext<'_>,
    call: Statement,
    done: impl FnOnce(u32, bool) -> CounterAnswer,
) -> Result<CounterAnswer, DriverError> {
    let (row, named) = (context.call(call).await?, record(context));
    let record = Record::new(&row, &named);
    Ok(match record.number::<u64>("outcome")? {
        1 => done(record.number("applied")?, record.flag("more")?),
        _ => CounterAnswer::Fenced,
    })
}

async fn readings(
    context: &CallContext<'_>,
    filter: &str,
    limit: u64,
) -> Result<CounterAnswer, DriverError> {
    let text = READ
        .replace("{prefix}", context.prefix())
        .replace("{namespace}", &literal(context.namespace))
        .replace("{filter}", filter)
        .replace("{limit}", &limit.to_string());
    let (rows, named) = (context.rows(text).await?, record(context));
    let readings = rows.iter().map(|row| reading(&Record::new(row, &named)));
    readings.collect::<Result<_, _>>().map(CounterAnswer::Readings)
}

fn record(context: &CallContext<'_>) -> String {
    format!("the counters of namespace {}", context.namespace)
}

fn name_literal(name: &CounterName) -> String {
    literal(Bytes(name.as_str().as_bytes()))
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

fn reading(record: &Record<'_, Row>) -> Result<Reading, DriverError> {
    let name = CounterName::new(record.text("name")?);
    let total: i128 = record.number("total")?;
    let value = i64::try_from(total).unwrap_or(if total < 0 { i64::MIN } else { i64::MAX });
    let overflowed = record.flag("is_over")? || i128::from(value) != total;
    Ok(Reading {
        counter: name.map_err(|problem| record.corrupt(problem.to_string()))?,
        consolidated: CounterValue {
            value: record.number("value")?,
            overflowed: record.flag("overflowed")?,
        },
        current: CounterValue { value, overflowed },
    })
}

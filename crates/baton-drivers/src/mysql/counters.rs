//! Counters.

use baton_store::{Change, CounterAnswer, CounterCall, CounterName, CounterValue, Delta, Reading};
use mysql_async::Row;

use super::context::CallContext;
use super::statement::{Argument, Ascii, Bytes, Statement, Text};
use crate::driver::{DriverError, Record};
use crate::sweep::hexadecimal;

const READ: &str = include_str!("sql/read_counters.sql");

impl CallContext<'_> {
    /// Carries a call about counters out.
    pub(super) async fn count(&self, call: &CounterCall) -> Result<CounterAnswer, DriverError> {
        match call {
            CounterCall::Append { writer, number, deltas } => {
                let call =
                    Statement::call(self.prefix(), "append_deltas").with(Ascii(self.namespace));
                let call = call.with(Ascii(writer)).with(*number).with(Text(&listed(deltas)));
                self.rows(call.text()).await?;
                Ok(CounterAnswer::Appended)
            }
            CounterCall::Consolidate { fence, limit } => {
                let call = self.procedure("consolidate").with(fence.0).with(u64::from(*limit));
                let done = |applied, more| CounterAnswer::Consolidated { applied, more };
                self.fenced(call, done).await
            }
            CounterCall::Collect { fence, silent_for, limit } => {
                let silent_us = u64::try_from(silent_for.as_micros()).unwrap_or(u64::MAX);
                let call = self.procedure("forget_writers").with(fence.0).with(silent_us);
                let done = |writers, _| CounterAnswer::Collected(writers);
                self.fenced(call.with(u64::from(*limit)), done).await
            }
            CounterCall::Read { counters } if counters.is_empty() => {
                Ok(CounterAnswer::Readings(Vec::new()))
            }
            CounterCall::Read { counters } => {
                let names: Vec<String> = counters.iter().map(name_literal).collect();
                self.readings(&format!("name IN ({})", names.join(",")), names.len() as u64).await
            }
            CounterCall::List { prefix, after, limit } => {
                let after = after.as_ref().map_or_else(|| Bytes(b"").literal(), name_literal);
                let (bytes, prefix) = (prefix.len(), Bytes(prefix.as_bytes()).literal());
                let filter = format!("name > {after} AND LEFT(name, {bytes}) = {prefix}");
                self.readings(&filter, u64::from(*limit)).await
            }
        }
    }

    /// Calls a procedure that answers with how many were dealt with and whether there are more.
    async fn fenced(
        &self,
        call: Statement,
        done: impl FnOnce(u32, bool) -> CounterAnswer,
    ) -> Result<CounterAnswer, DriverError> {
        let (row, named) = (self.call(call).await?, self.counters_name());
        let record = Record::new(&row, &named);
        Ok(match record.number::<u64>("outcome")? {
            1 => done(record.number("applied")?, record.flag("more")?),
            _ => CounterAnswer::Fenced,
        })
    }

    async fn readings(&self, filter: &str, limit: u64) -> Result<CounterAnswer, DriverError> {
        let text = READ
            .replace("{prefix}", self.prefix())
            .replace("{namespace}", &Ascii(self.namespace).literal())
            .replace("{filter}", filter)
            .replace("{limit}", &limit.to_string());
        let (rows, named) = (self.rows(text).await?, self.counters_name());
        Record::all(&rows, &named, |record| reading(&record)).map(CounterAnswer::Readings)
    }

    fn counters_name(&self) -> String {
        format!("the counters of namespace {}", self.namespace)
    }
}

fn name_literal(name: &CounterName) -> String {
    Bytes(name.as_str().as_bytes()).literal()
}

/// The changes as the procedure wants them. Digits cannot be mistaken for anything else.
fn listed(deltas: &[Delta]) -> String {
    let change = |delta: &Delta| {
        let (is_set, amount) = match delta.change {
            Change::Add(amount) => (0, amount),
            Change::Set(amount) => (1, amount),
        };
        format!("[\"{}\",{is_set},{amount}]", hexadecimal(delta.counter.as_str().as_bytes()))
    };
    format!("[{}]", deltas.iter().map(change).collect::<Vec<_>>().join(","))
}

fn reading(record: &Record<'_, Row>) -> Result<Reading, DriverError> {
    let name = CounterName::new(record.text("name")?);
    let total: i128 = record.number("total")?;
    let value = i64::try_from(total).unwrap_or(if total < 0 { i64::MIN } else { i64::MAX });
    let overflowed = record.flag("is_over")? || i128::from(value) != total;
    let consolidated = record.number("value")?;
    Ok(Reading {
        counter: name.map_err(|problem| record.corrupt(problem.to_string()))?,
        consolidated: CounterValue { value: consolidated, overflowed: record.flag("overflowed")? },
        current: CounterValue { value, overflowed },
    })
}

//! The rules of counters: what was appended waits in order, until it is applied once.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch};
use baton_store::{Change, CounterAnswer, CounterCall, CounterName, CounterValue, Delta, Reading};
use rusqlite::{OptionalExtension, Row};

use super::columns::{Bits, Hex};
use super::context::CallContext;
use crate::driver::DriverError;

/// Carries the call out.
pub(super) fn perform(
    context: &CallContext<'_>,
    call: &CounterCall,
) -> Result<CounterAnswer, DriverError> {
    if let CounterCall::Consolidate { fence, .. } | CounterCall::Collect { fence, .. } = call
        && !admitted(context, *fence)?
    {
        return Ok(CounterAnswer::Fenced);
    }
    match call {
        CounterCall::Append { writer, number, deltas } => {
            append(context, *writer, *number, deltas)?;
            Ok(CounterAnswer::Appended)
        }
        CounterCall::Consolidate { limit, .. } => consolidate(context, *limit),
        CounterCall::Collect { silent_for, limit, .. } => {
            forget_writers(context, *silent_for, *limit).map(CounterAnswer::Collected)
        }
        CounterCall::Read { counters } => {
            let mut wanted = counters.clone();
            wanted.sort_unstable();
            wanted.dedup();
            readings(context, wanted)
        }
        CounterCall::List { prefix, after, limit } => {
            let after = after.as_ref().map_or("", CounterName::as_str);
            readings(context, names(context, prefix, after, *limit)?)
        }
    }
}

/// Is no later epoch known? Then this one is from now on.
fn admitted(context: &CallContext<'_>, fence: Epoch) -> Result<bool, DriverError> {
    let space = context.space_or_begin()?;
    let is_behind = context.is_fenced_off(space, fence)?;
    if !is_behind {
        context.raise_fence(fence)?;
    }
    Ok(!is_behind)
}

fn append(
    context: &CallContext<'_>,
    writer: BootId,
    number: u64,
    deltas: &[Delta],
) -> Result<(), DriverError> {
    context.space_or_begin()?;
    let (namespace, writer) = (context.namespace.as_str(), Hex(writer));
    let last = "SELECT last FROM baton_counter_writers WHERE namespace = ?1 AND writer = ?2";
    let mut last = context.conn.prepare_cached(last)?;
    let last = last.query_row((namespace, writer), |row| row.get::<_, Bits>(0)).optional();
    let last = last.map_err(context.spoilt("the counters"))?;
    if last.is_some_and(|last| number <= last.0) {
        return Ok(());
    }
    let keep = "INSERT OR REPLACE INTO baton_counter_writers (namespace, writer, last, machine, \
                appended_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    let now = Bits(context.at.now.as_micros());
    let values = (namespace, writer, Bits(number), &*context.machine.boot, now);
    context.conn.prepare_cached(keep)?.execute(values)?;
    let insert = "INSERT INTO baton_counter_deltas (namespace, name, is_set, amount) \
                  VALUES (?1, ?2, ?3, ?4)";
    let mut insert = context.conn.prepare_cached(insert)?;
    for delta in deltas {
        let (is_set, amount) = match delta.change {
            Change::Add(amount) => (false, amount),
            Change::Set(amount) => (true, amount),
        };
        insert.execute((namespace, delta.counter.as_str(), is_set, amount))?;
    }
    Ok(())
}

fn consolidate(context: &CallContext<'_>, limit: u32) -> Result<CounterAnswer, DriverError> {
    let namespace = context.namespace.as_str();
    let due = "SELECT name, is_set, amount, seq FROM baton_counter_deltas \
               WHERE namespace = ?1 ORDER BY seq LIMIT ?2";
    let mut due = context.conn.prepare_cached(due)?;
    let due = due.query_map((namespace, i64::from(limit)), |row| {
        Ok((name(row)?, change(row)?, row.get::<_, i64>(3)?))
    })?;
    let mut values: BTreeMap<CounterName, CounterValue> = BTreeMap::new();
    let (mut applied, mut last) = (0, None);
    for found in due {
        let (name, change, seq) = found.map_err(context.spoilt("the counters"))?;
        let known = match values.get(&name) {
            Some(known) => *known,
            None => consolidated(context, &name)?.unwrap_or_default(),
        };
        values.insert(name, known.after(change));
        (applied, last) = (applied + 1, Some(seq));
    }
    let keep = "INSERT OR REPLACE INTO baton_counters (namespace, name, value, overflowed) \
                VALUES (?1, ?2, ?3, ?4)";
    let mut keep = context.conn.prepare_cached(keep)?;
    for (name, value) in values {
        keep.execute((namespace, name.as_str(), value.value, value.overflowed))?;
    }
    // No other process writes during this call: what is at or below the last was just read.
    let taken = "DELETE FROM baton_counter_deltas WHERE namespace = ?1 AND seq <= ?2";
    context.conn.prepare_cached(taken)?.execute((namespace, last))?;
    let more = "SELECT EXISTS (SELECT 1 FROM baton_counter_deltas WHERE namespace = ?1)";
    let more = context.conn.prepare_cached(more)?.query_row([namespace], |row| row.get(0))?;
    Ok(CounterAnswer::Consolidated { applied, more })
}

fn forget_writers(
    context: &CallContext<'_>,
    silent_for: Duration,
    limit: u32,
) -> Result<u32, DriverError> {
    let sql = "DELETE FROM baton_counter_writers WHERE namespace = ?1 AND writer IN (\
               SELECT writer FROM baton_counter_writers \
               WHERE namespace = ?1 AND (machine <> ?2 OR ?3 - appended_at >= ?4) LIMIT ?5)";
    let (now, silent_for) = (context.at.now.as_micros(), silent_for.as_micros());
    let silent_us = i64::try_from(silent_for).unwrap_or(i64::MAX);
    let namespace = context.namespace.as_str();
    // A writer of another boot of the machine is gone.
    let values = (namespace, &*context.machine.boot, Bits(now), silent_us, i64::from(limit));
    let forgotten = context.conn.prepare_cached(sql)?.execute(values)?;
    Ok(u32::try_from(forgotten).unwrap_or(u32::MAX))
}

/// The names of those that were ever counted, in order.
fn names(
    context: &CallContext<'_>,
    prefix: &str,
    after: &str,
    limit: u32,
) -> Result<Vec<CounterName>, DriverError> {
    let sql = "SELECT name FROM (\
                   SELECT name FROM baton_counters WHERE namespace = ?1 UNION \
                   SELECT name FROM baton_counter_deltas WHERE namespace = ?1) \
               WHERE name > ?2 AND substr(name, 1, length(?3)) = ?3 ORDER BY name LIMIT ?4";
    let mut names = context.conn.prepare_cached(sql)?;
    let values = (context.namespace.as_str(), after, prefix, i64::from(limit));
    let names = names.query_map(values, name)?;
    names.collect::<rusqlite::Result<_>>().map_err(context.spoilt("the counters"))
}

fn readings(
    context: &CallContext<'_>,
    wanted: Vec<CounterName>,
) -> Result<CounterAnswer, DriverError> {
    let sql = "SELECT name, is_set, amount FROM baton_counter_deltas \
               WHERE namespace = ?1 AND name = ?2 ORDER BY seq";
    let mut pending = context.conn.prepare_cached(sql)?;
    let mut readings = Vec::new();
    for counter in wanted {
        let known = consolidated(context, &counter)?;
        let mut current = known;
        let values = (context.namespace.as_str(), counter.as_str());
        for found in pending.query_map(values, change)? {
            let change = found.map_err(context.spoilt("the counters"))?;
            current = Some(current.unwrap_or_default().after(change));
        }
        if let Some(current) = current {
            readings.push(Reading { counter, consolidated: known.unwrap_or_default(), current });
        }
    }
    Ok(CounterAnswer::Readings(readings))
}

fn consolidated(
    context: &CallContext<'_>,
    name: &CounterName,
) -> Result<Option<CounterValue>, DriverError> {
    let sql = "SELECT value, overflowed FROM baton_counters WHERE namespace = ?1 AND name = ?2";
    let mut statement = context.conn.prepare_cached(sql)?;
    let found = statement.query_row((context.namespace.as_str(), name.as_str()), |row| {
        Ok(CounterValue { value: row.get(0)?, overflowed: row.get(1)? })
    });
    found.optional().map_err(context.spoilt("the counters"))
}

fn name(row: &Row<'_>) -> rusqlite::Result<CounterName> {
    let text: String = row.get("name")?;
    let foreign = |error| {
        let kind = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(0, kind, Box::new(error))
    };
    CounterName::new(&text).map_err(foreign)
}

fn change(row: &Row<'_>) -> rusqlite::Result<Change> {
    let amount = row.get("amount")?;
    Ok(if row.get("is_set")? { Change::Set(amount) } else { Change::Add(amount) })
}

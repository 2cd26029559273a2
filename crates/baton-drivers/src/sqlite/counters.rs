//! The rules of counters: what was appended waits in order, until it is applied once.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::BootId;
use baton_store::{Change, CounterAnswer, CounterCall, CounterName, CounterValue, Delta, Reading};

use super::context::CallContext;
use super::records::{Bits, ReadRow};
use crate::driver::{DriverError, Record};

/// What the rows are called in errors.
const RECORD: &str = "the counters";

impl CallContext<'_> {
    /// Carries a call about counters out.
    pub(super) fn count(&self, call: &CounterCall) -> Result<CounterAnswer, DriverError> {
        if let CounterCall::Consolidate { fence, .. } | CounterCall::Collect { fence, .. } = call {
            if self.is_fenced_off(*fence)? {
                return Ok(CounterAnswer::Fenced);
            }
            self.raise_fence(*fence)?;
        }
        match call {
            CounterCall::Append { writer, number, deltas } => {
                self.append(*writer, *number, deltas).map(|()| CounterAnswer::Appended)
            }
            CounterCall::Consolidate { limit, .. } => self.consolidate(*limit),
            CounterCall::Collect { silent_for, limit, .. } => {
                self.forget_writers(*silent_for, *limit).map(CounterAnswer::Collected)
            }
            CounterCall::Read { counters } => {
                let mut wanted = counters.clone();
                wanted.sort_unstable();
                wanted.dedup();
                self.readings(wanted)
            }
            CounterCall::List { prefix, after, limit } => {
                let sql = "SELECT name FROM (\
                               SELECT name FROM baton_counters WHERE namespace = ?1 UNION \
                               SELECT name FROM baton_counter_deltas WHERE namespace = ?1) \
                           WHERE name > ?2 AND substr(name, 1, length(?3)) = ?3 \
                           ORDER BY name LIMIT ?4";
                let after = after.as_ref().map_or("", CounterName::as_str);
                let values = (self.namespace.as_str(), after, prefix, i64::from(*limit));
                self.readings(self.all(sql, values, RECORD, |it| name(&it))?)
            }
        }
    }

    fn append(&self, writer: BootId, number: u64, deltas: &[Delta]) -> Result<(), DriverError> {
        self.space_or_begin()?;
        let (namespace, writer) = (self.namespace.as_str(), writer.to_string());
        let last = "SELECT last FROM baton_counter_writers WHERE namespace = ?1 AND writer = ?2";
        let last = self.one(last, (namespace, &writer), RECORD, |it| it.number::<u64>("last"))?;
        if last.is_some_and(|last| number <= last) {
            return Ok(());
        }
        let keep = "INSERT OR REPLACE INTO baton_counter_writers (namespace, writer, last, \
                    machine, appended_at) VALUES (?1, ?2, ?3, ?4, ?5)";
        let now = Bits(self.at.now.as_micros());
        self.run(keep, (namespace, &writer, Bits(number), &*self.machine.boot, now))?;
        let insert = "INSERT INTO baton_counter_deltas (namespace, name, is_set, amount) \
                      VALUES (?1, ?2, ?3, ?4)";
        let mut insert = self.conn.prepare_cached(insert)?;
        for delta in deltas {
            let (is_set, amount) = match delta.change {
                Change::Add(amount) => (false, amount),
                Change::Set(amount) => (true, amount),
            };
            insert.execute((namespace, delta.counter.as_str(), is_set, amount))?;
        }
        Ok(())
    }

    fn consolidate(&self, limit: u32) -> Result<CounterAnswer, DriverError> {
        let namespace = self.namespace.as_str();
        let due = "SELECT name, is_set, amount, seq FROM baton_counter_deltas \
                   WHERE namespace = ?1 ORDER BY seq LIMIT ?2";
        let due = self.all(due, (namespace, i64::from(limit)), RECORD, |it| {
            Ok((name(&it)?, change(&it)?, signed(&it, "seq")?))
        })?;
        let applied = u32::try_from(due.len()).expect("it is at most the limit");
        let last = due.last().map(|(_, _, seq)| *seq);
        let mut values: BTreeMap<CounterName, CounterValue> = BTreeMap::new();
        for (name, change, _) in due {
            let known = match values.get(&name) {
                Some(known) => *known,
                None => self.consolidated(&name)?.unwrap_or_default(),
            };
            values.insert(name, known.after(change));
        }
        let keep = "INSERT OR REPLACE INTO baton_counters (namespace, name, value, overflowed) \
                    VALUES (?1, ?2, ?3, ?4)";
        for (name, value) in values {
            self.run(keep, (namespace, name.as_str(), value.value, value.overflowed))?;
        }
        // No other process writes during this call: what is at or below the last was just read.
        let taken = "DELETE FROM baton_counter_deltas WHERE namespace = ?1 AND seq <= ?2";
        self.run(taken, (namespace, last))?;
        let more = "SELECT EXISTS (SELECT 1 FROM baton_counter_deltas WHERE namespace = ?1)";
        let more = self.conn.prepare_cached(more)?.query_row([namespace], |row| row.get(0))?;
        Ok(CounterAnswer::Consolidated { applied, more })
    }

    fn forget_writers(&self, silent_for: Duration, limit: u32) -> Result<u32, DriverError> {
        // A writer of another boot of the machine is gone.
        let sql = "DELETE FROM baton_counter_writers WHERE namespace = ?1 AND writer IN (\
                   SELECT writer FROM baton_counter_writers \
                   WHERE namespace = ?1 AND (machine <> ?2 OR ?3 - appended_at >= ?4) LIMIT ?5)";
        let silent_us = i64::try_from(silent_for.as_micros()).unwrap_or(i64::MAX);
        let (now, limit) = (Bits(self.at.now.as_micros()), i64::from(limit));
        let values = (self.namespace.as_str(), &*self.machine.boot, now, silent_us, limit);
        Ok(u32::try_from(self.run(sql, values)?).unwrap_or(u32::MAX))
    }

    fn readings(&self, wanted: Vec<CounterName>) -> Result<CounterAnswer, DriverError> {
        let pending = "SELECT is_set, amount FROM baton_counter_deltas \
                       WHERE namespace = ?1 AND name = ?2 ORDER BY seq";
        let mut readings = Vec::new();
        for counter in wanted {
            let values = (self.namespace.as_str(), counter.as_str());
            let pending = self.all(pending, values, RECORD, |it| change(&it))?;
            let known = self.consolidated(&counter)?;
            if known.is_some() || !pending.is_empty() {
                let consolidated = known.unwrap_or_default();
                let current = pending.into_iter().fold(consolidated, CounterValue::after);
                readings.push(Reading { counter, consolidated, current });
            }
        }
        Ok(CounterAnswer::Readings(readings))
    }

    fn consolidated(&self, name: &CounterName) -> Result<Option<CounterValue>, DriverError> {
        let sql = "SELECT value, overflowed FROM baton_counters WHERE namespace = ?1 AND name = ?2";
        self.one(sql, (self.namespace.as_str(), name.as_str()), RECORD, |it| {
            Ok(CounterValue { value: signed(&it, "value")?, overflowed: it.flag("overflowed")? })
        })
    }
}

fn name(record: &Record<'_, ReadRow>) -> Result<CounterName, DriverError> {
    record.id("name", CounterName::new)
}

fn signed(record: &Record<'_, ReadRow>, field: &str) -> Result<i64, DriverError> {
    record.number(field).map(u64::cast_signed)
}

fn change(record: &Record<'_, ReadRow>) -> Result<Change, DriverError> {
    let amount = signed(record, "amount")?;
    Ok(if record.flag("is_set")? { Change::Set(amount) } else { Change::Add(amount) })
}

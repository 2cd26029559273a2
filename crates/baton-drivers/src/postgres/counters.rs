//! Counters.

use baton_store::{Change, CounterAnswer, CounterCall, CounterName, CounterValue, Delta, Reading};
use tokio_postgres::Row;
use tokio_postgres::types::{Json, Type};

use super::context::{CallContext, Param, bytea, int8, text};
use crate::driver::DriverError;

const APPEND: &str = "SELECT {t}append_deltas($1, $2, $3::numeric, $4, $5, $6)";

const CONSOLIDATE: &str = "SELECT {t}consolidate($1, $2::numeric, $3, $4::numeric, $5)";

const COLLECT: &str = "SELECT {t}forget_writers($1, $2::numeric, $3, $4::numeric, $5::numeric, $6)";

const READ: &str = "SELECT * FROM {t}counter_values($1, $2)";

const LIST: &str = "SELECT * FROM {t}counter_values($1, ARRAY(\
    SELECT name FROM (\
        SELECT name FROM {t}counters WHERE namespace = $1 \
        UNION SELECT name FROM {t}counter_deltas WHERE namespace = $1) AS known \
    WHERE name >= $2 AND substring(name FROM 1 FOR length($2)) = $2 AND name > $3 \
    ORDER BY name LIMIT $4))";

impl CallContext<'_> {
    /// Carries a call about counters out.
    pub(super) async fn count(&self, call: &CounterCall) -> Result<CounterAnswer, DriverError> {
        let answered = match call {
            CounterCall::Append { writer, number, deltas } => {
                let names: Vec<&[u8]> = deltas.iter().map(|it| bytes(&it.counter)).collect();
                let (sets, amounts): (Vec<bool>, Vec<i64>) = deltas.iter().map(change).unzip();
                let (writer, number) = (writer.to_string(), number.to_string());
                let more: [Param<'_>; 5] = [
                    text(&writer),
                    text(&number),
                    (&names, Type::BYTEA_ARRAY),
                    (&sets, Type::BOOL_ARRAY),
                    (&amounts, Type::INT8_ARRAY),
                ];
                self.rows(APPEND, &more).await?;
                return Ok(CounterAnswer::Appended);
            }
            CounterCall::Consolidate { fence, limit } => {
                let (fence, limit) = (fence.0.to_string(), i64::from(*limit));
                self.call(CONSOLIDATE, &[text(&fence), int8(&limit)]).await?
            }
            CounterCall::Collect { fence, silent_for, limit } => {
                let (fence, limit) = (fence.0.to_string(), i64::from(*limit));
                let silent_us = silent_for.as_micros().to_string();
                self.call(COLLECT, &[text(&fence), text(&silent_us), int8(&limit)]).await?
            }
            CounterCall::Read { counters } => {
                let names: Vec<&[u8]> = counters.iter().map(bytes).collect();
                return self.readings(&self.rows(READ, &[(&names, Type::BYTEA_ARRAY)]).await?);
            }
            CounterCall::List { prefix, after, limit } => {
                // Every name is longer than none.
                let after = after.as_ref().map_or(&b""[..], bytes);
                let (prefix, limit) = (prefix.as_bytes(), i64::from(*limit));
                let more = [bytea(&prefix), bytea(&after), int8(&limit)];
                return self.readings(&self.rows(LIST, &more).await?);
            }
        };
        let Json(answer): Json<CounterAnswer> = self.column(&answered, 0)?;
        Ok(answer)
    }

    fn readings(&self, rows: &[Row]) -> Result<CounterAnswer, DriverError> {
        let value = |row: &Row, at: usize| -> Result<CounterValue, DriverError> {
            Ok(CounterValue { value: self.column(row, at)?, overflowed: self.column(row, at + 1)? })
        };
        let read = |row: &Row| {
            let name = std::str::from_utf8(self.column(row, 0)?).ok();
            let name = name.and_then(|text| CounterName::new(text).ok());
            let counter = name.ok_or_else(|| self.corrupt("the name of a counter is not valid"))?;
            Ok(Reading { counter, consolidated: value(row, 1)?, current: value(row, 3)? })
        };
        rows.iter().map(read).collect::<Result<_, DriverError>>().map(CounterAnswer::Readings)
    }
}

fn bytes(name: &CounterName) -> &[u8] {
    name.as_str().as_bytes()
}

fn change(delta: &Delta) -> (bool, i64) {
    match delta.change {
        Change::Add(amount) => (false, amount),
        Change::Set(amount) => (true, amount),
    }
}

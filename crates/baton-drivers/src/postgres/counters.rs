//! Counters.

use baton_store::{Change, CounterAnswer, CounterCall, CounterName, CounterValue, Delta, Reading};
use tokio_postgres::Row;
use tokio_postgres::types::{Json, Type};

use super::context::{CallContext, Param};
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

/// Carries the call out.
pub(super) async fn perform(
    context: &CallContext<'_>,
    call: &CounterCall,
) -> Result<CounterAnswer, DriverError> {
    match call {
        CounterCall::Append { writer, number, deltas } => {
            let names: Vec<&[u8]> =
                deltas.iter().map(|it| it.counter.as_str().as_bytes()).collect();
            let (sets, amounts): (Vec<bool>, Vec<i64>) = deltas.iter().map(change).unzip();
            let (writer, number) = (writer.to_string(), number.to_string());
            let more: [Param<'_>; 5] = [
                (&writer, Type::TEXT),
                (&number, Type::TEXT),
                (&names, Type::BYTEA_ARRAY),
                (&sets, Type::BOOL_ARRAY),
                (&amounts, Type::INT8_ARRAY),
            ];
            context.rows(APPEND, &more).await?;
            Ok(CounterAnswer::Appended)
        }
        CounterCall::Consolidate { fence, limit } => {
            let (fence, limit) = (fence.0.to_string(), i64::from(*limit));
            let more: [Param<'_>; 2] = [(&fence, Type::TEXT), (&limit, Type::INT8)];
            answer(context, CONSOLIDATE, &more).await
        }
        CounterCall::Collect { fence, silent_for, limit } => {
            let (fence, limit) = (fence.0.to_string(), i64::from(*limit));
            let silent_us = silent_for.as_micros().to_string();
            let more: [Param<'_>; 3] =
                [(&fence, Type::TEXT), (&silent_us, Type::TEXT), (&limit, Type::INT8)];
            answer(context, COLLECT, &more).await
        }
        CounterCall::Read { counters } => {
            let names: Vec<&[u8]> = counters.iter().map(|it| it.as_str().as_bytes()).collect();
            readings(context, &context.rows(READ, &[(&names, Type::BYTEA_ARRAY)]).await?)
        }
        CounterCall::List { prefix, after, limit } => {
            let prefix = prefix.as_bytes();
            // Every name is longer than none.
            let after = after.as_ref().map_or(&b""[..], |it| it.as_str().as_bytes());
            let limit = i64::from(*limit);
            let more: [Param<'_>; 3] =
                [(&prefix, Type::BYTEA), (&after, Type::BYTEA), (&limit, Type::INT8)];
            readings(context, &context.rows(LIST, &more).await?)
        }
    }
}

fn change(delta: &Delta) -> (bool, i64) {
    match delta.change {
        Change::Add(amount) => (false, amount),
        Change::Set(amount) => (true, amount),
    }
}

/// Calls a function that answers as the contract does.
async fn answer(
    context: &CallContext<'_>,
    sql: &str,
    more: &[Param<'_>],
) -> Result<CounterAnswer, DriverError> {
    let row = context.call(sql, more).await?;
    let Json(answer): Json<CounterAnswer> = context.column(&row, 0)?;
    Ok(answer)
}

fn readings(context: &CallContext<'_>, rows: &[Row]) -> Result<CounterAnswer, DriverError> {
    let read = |row: &Row| {
        let name: &[u8] = context.column(row, 0)?;
        let name = std::str::from_utf8(name).ok().and_then(|text| CounterName::new(text).ok());
        Ok(Reading {
            counter: name.ok_or_else(|| context.corrupt("a counter's name is not one"))?,
            consolidated: CounterValue {
                value: context.column(row, 1)?,
                overflowed: context.column(row, 2)?,
            },
            current: CounterValue {
                value: context.column(row, 3)?,
                overflowed: context.column(row, 4)?,
            },
        })
    };
    rows.iter().map(read).collect::<Result<_, DriverError>>().map(CounterAnswer::Readings)
}

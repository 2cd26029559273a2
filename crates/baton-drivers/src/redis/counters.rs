//! Counters: each call is a script on one hash.

use baton_core::ids::Namespace;
use baton_store::{
    APPEND_MAX, Change, CounterAnswer, CounterCall, CounterName, Delta, Reading, StoreError, Tally,
};

use super::engine::Redis;
use super::reply::Pieces;
use super::script::{Arguments, Step};

/// At most so many changes or writers in one step: what a script can hand to one command.
const STEP_MAX: u32 = 2_000;

impl Redis {
    pub(super) async fn count(
        &self,
        namespace: &Namespace,
        call: CounterCall,
    ) -> Result<CounterAnswer, StoreError> {
        let mut own = Arguments::default();
        match call {
            CounterCall::Append { writer, number, deltas } => {
                within_bounds(&deltas)?;
                own.push(writer.to_string());
                own.number(number);
                for delta in deltas {
                    push(&mut own, delta);
                }
                self.run_counters(namespace, &self.steps.append, own).await?;
                Ok(CounterAnswer::Appended)
            }
            CounterCall::Consolidate { fence, limit } => {
                own.number(fence.0);
                own.number(u64::from(limit.min(STEP_MAX)));
                let told = self.fenced(namespace, &self.steps.consolidate, own).await?;
                Ok(told.map_or(CounterAnswer::Fenced, |(applied, more)| {
                    CounterAnswer::Consolidated { applied, more }
                }))
            }
            CounterCall::Collect { fence, silent_for, limit } => {
                own.number(fence.0);
                own.number(baton_core::time::whole_ms(silent_for));
                own.number(u64::from(limit.min(STEP_MAX)));
                let told = self.fenced(namespace, &self.steps.forget_writers, own).await?;
                Ok(told.map_or(CounterAnswer::Fenced, |(count, _)| CounterAnswer::Collected(count)))
            }
            CounterCall::Read { mut counters } => {
                counters.sort_unstable();
                counters.dedup();
                for name in &counters {
                    own.push(name.as_str());
                }
                let pieces = self.run_counters(namespace, &self.steps.read_counters, own).await?;
                readings(pieces)
            }
            CounterCall::List { limit: 0, .. } => Ok(CounterAnswer::Readings(Vec::new())),
            CounterCall::List { prefix, after, limit } => {
                own.push(match after {
                    Some(after) if after.as_str() >= prefix.as_str() => format!("({after}"),
                    _ => format!("[{prefix}"),
                });
                // No byte of a name is the last one that there is: UTF-8 has no use for it.
                own.push([b"(", prefix.as_bytes(), &[u8::MAX]].concat());
                own.number(u64::from(limit));
                let pieces = self.run_counters(namespace, &self.steps.list_counters, own).await?;
                readings(pieces)
            }
        }
    }

    async fn run_counters(
        &self,
        namespace: &Namespace,
        step: &Step,
        own: Arguments,
    ) -> Result<Pieces, StoreError> {
        self.run_on(namespace, step, &self.names.counter_keys(namespace), own).await
    }

    /// How many, and whether there are more; `None` if a later epoch is known.
    async fn fenced(
        &self,
        namespace: &Namespace,
        step: &Step,
        own: Arguments,
    ) -> Result<Option<(u32, bool)>, StoreError> {
        let mut pieces = self.run_counters(namespace, step, own).await?;
        self.note(namespace, &mut pieces)?;
        let (word, count, more) = (pieces.text()?, pieces.parsed()?, pieces.parsed::<u8>()?);
        match word.as_str() {
            "done" => Ok(Some((count, more != 0))),
            "fenced" => Ok(None),
            _ => Err(pieces.strange("its outcome")),
        }
    }
}

fn within_bounds(deltas: &[Delta]) -> Result<(), StoreError> {
    if deltas.len() <= APPEND_MAX {
        return Ok(());
    }
    let detail = format!("an append has {} changes; at most {APPEND_MAX} fit", deltas.len());
    Err(StoreError::Refused { detail })
}

fn push(own: &mut Arguments, delta: Delta) {
    let (word, amount) = match delta.change {
        Change::Add(amount) => ("add", amount),
        Change::Set(amount) => ("set", amount),
    };
    own.push(word);
    own.push(amount.to_string());
    own.push(String::from(delta.counter));
}

fn readings(mut pieces: Pieces) -> Result<CounterAnswer, StoreError> {
    let list = pieces.list()?;
    let strange = || pieces.strange("a counter");
    let read = |three: &[String]| {
        Ok(Reading {
            counter: CounterName::new(&three[0]).map_err(|_| strange())?,
            consolidated: tally(&three[1]).ok_or_else(strange)?,
            current: tally(&three[2]).ok_or_else(strange)?,
        })
    };
    let readings = list.chunks_exact(3).map(read).collect::<Result<_, StoreError>>();
    readings.map(CounterAnswer::Readings)
}

/// A number, and '!' if it overflowed.
fn tally(text: &str) -> Option<Tally> {
    let (value, overflowed) = match text.strip_suffix('!') {
        Some(value) => (value, true),
        None => (text, false),
    };
    Some(Tally { value: value.parse().ok()?, overflowed })
}

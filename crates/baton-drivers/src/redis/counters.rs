//! Counters: each call is a script on one hash.

use baton_core::ids::Lineage;
use baton_core::time::whole_ms;
use baton_store::{
    APPEND_MAX, Change, CounterAnswer, CounterCall, CounterName, CounterValue, Reading, StoreError,
};

use super::context::CallContext;
use super::script::{Arguments, Script};

/// How many changes or writers one call handles: what a script can give to one command.
const BATCH_MAX: u32 = 2_000;

impl CallContext<'_> {
    pub(super) async fn count(&self, call: CounterCall) -> Result<CounterAnswer, StoreError> {
        let (scripts, mut arguments) = (&self.engine.scripts, Arguments::default());
        match call {
            CounterCall::Append { deltas, .. } if deltas.len() > APPEND_MAX => {
                let changes = deltas.len();
                let detail = format!("an append has {changes} changes; at most {APPEND_MAX} fit");
                Err(StoreError::Refused { detail })
            }
            CounterCall::Append { writer, number, deltas } => {
                arguments = arguments.text(writer).text(number);
                for delta in deltas {
                    let (word, amount) = match delta.change {
                        Change::Add(amount) => ("add", amount),
                        Change::Set(amount) => ("set", amount),
                    };
                    arguments = arguments.text(word).text(amount).text(delta.counter);
                }
                self.run::<()>(&scripts.append, arguments).await?;
                Ok(CounterAnswer::Appended)
            }
            CounterCall::Consolidate { fence, limit } => {
                let arguments = arguments.text(fence).text(limit.min(BATCH_MAX));
                let done = self.fenced(&scripts.consolidate, arguments).await?;
                Ok(done.map_or(CounterAnswer::Fenced, |(applied, more)| {
                    CounterAnswer::Consolidated { applied, more }
                }))
            }
            CounterCall::Collect { fence, silent_for, limit } => {
                let silent_ms = whole_ms(silent_for);
                let arguments = arguments.text(fence).text(silent_ms).text(limit.min(BATCH_MAX));
                let done = self.fenced(&scripts.forget_writers, arguments).await?;
                Ok(done.map_or(CounterAnswer::Fenced, |(count, _)| CounterAnswer::Collected(count)))
            }
            CounterCall::Read { mut counters } => {
                counters.sort_unstable();
                counters.dedup();
                let arguments = counters.into_iter().fold(arguments, Arguments::text);
                self.readings(&scripts.read_counters, arguments).await
            }
            CounterCall::List { limit: 0, .. } => Ok(CounterAnswer::Readings(Vec::new())),
            CounterCall::List { prefix, after, limit } => {
                let from = match after {
                    Some(after) if after.as_str() >= prefix.as_str() => format!("({after}"),
                    _ => format!("[{prefix}"),
                };
                // No byte of a name is the highest: UTF-8 does not use it.
                let to = [b"(", prefix.as_bytes(), &[u8::MAX]].concat();
                let arguments = arguments.text(from).bytes(to).text(limit);
                self.readings(&scripts.list_counters, arguments).await
            }
        }
    }

    /// How many, and whether there are more; `None` if a later epoch is known.
    async fn fenced(
        &self,
        script: &Script,
        arguments: Arguments,
    ) -> Result<Option<(u32, bool)>, StoreError> {
        let (lineage, word, count, more): (u64, String, u32, u8) =
            self.run(script, arguments).await?;
        self.note(Lineage(lineage), 0);
        match word.as_str() {
            "done" => Ok(Some((count, more != 0))),
            "fenced" => Ok(None),
            _ => Err(script.strange(word).into()),
        }
    }

    async fn readings(
        &self,
        script: &Script,
        arguments: Arguments,
    ) -> Result<CounterAnswer, StoreError> {
        let (found,): (Vec<(String, String, String)>,) = self.run(script, arguments).await?;
        let reading = |(name, consolidated, current): &(String, String, String)| {
            let counter = CounterName::new(name).ok()?;
            Some(Reading { counter, consolidated: value(consolidated)?, current: value(current)? })
        };
        let readings: Option<_> = found.iter().map(reading).collect();
        let strange = || script.strange(format!("{found:?} is not a list of counters"));
        Ok(CounterAnswer::Readings(readings.ok_or_else(strange)?))
    }
}

/// A number, and '!' if it overflowed.
fn value(text: &str) -> Option<CounterValue> {
    let (value, overflowed) = match text.strip_suffix('!') {
        Some(value) => (value, true),
        None => (text, false),
    };
    Some(CounterValue { value: value.parse().ok()?, overflowed })
}

//! Expired keys by an index of the user's own: one script a batch.
//!
//! ```text
//!   EVALSHA sweep ── the fence: a later epoch? StaleEpoch ── TIME ── ZRANGEBYSCORE index -inf now
//!                    UNLINK · HSETNX · RENAME, then ZREM, key by key
//! ```
//!
//! A callback takes two scripts: what is due is read and handed over, then what is *still* due is
//! removed.

use std::sync::Arc;

use ::redis::{Value, cmd, from_redis_value};
use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_store::StaleEpoch;
use baton_store::sweep::{Sweep, SweepError, Swept};
use serde_json::Value as Json;

use super::NAME;
use super::config::RedisConfig;
use super::connect::{RedisConnector, ask};
use super::script::{Arguments, Script, split_answer};
use crate::OpenError;
use crate::driver::ConnectionSlot;
use crate::sweep::{InvalidSweep, Keys, Strategy};

struct RedisSweep {
    name: String,
    resource: String,
    keys: [String; 2],
    slot: ConnectionSlot<RedisConnector>,
    script: Script,
    strategy: Strategy,
}

/// A key that is due, its score, and what is under it.
type Due = (Vec<u8>, f64, Value);

/// How many went, how many were due, and what was read of them.
type Done = (u32, u32, Vec<Due>);

/// A sweep of this index.
pub(crate) fn sweep(
    scheme: &str,
    rest: &str,
    keys: Keys,
    strategy: Strategy,
) -> Result<Arc<dyn Sweep>, InvalidSweep> {
    if keys.index.is_empty() {
        return Err(InvalidSweep::Empty { what: "the index of keys" });
    }
    match &strategy {
        Strategy::SoftDelete { column } if column.is_empty() => {
            return Err(InvalidSweep::Empty { what: "the field that marks a key" });
        }
        Strategy::Archive { into } if into.is_empty() => {
            return Err(InvalidSweep::Empty { what: "the prefix of archived keys" });
        }
        _ => {}
    }
    let config = RedisConfig::parse(scheme, rest).map_err(OpenError::from)?;
    let resource = format!("ttl:{}", keys.index);
    let keys = [format!("{}fence:{{{resource}}}", config.prefix), keys.index];
    let text = concat!(include_str!("lua/fence.lua"), include_str!("lua/sweep.lua"));
    Ok(Arc::new(RedisSweep {
        name: format!("{NAME} index {}", keys[1]),
        resource,
        slot: RedisConnector::slot(config, None)?,
        script: Script::new("sweep", text),
        keys,
        strategy,
    }))
}

impl RedisSweep {
    async fn run(
        &self,
        epoch: Epoch,
        limit: u32,
        (act, given): (&str, &str),
        these: Vec<Vec<u8>>,
    ) -> Result<Done, SweepError> {
        epoch.grantable().map_err(|problem| self.rejected(problem.to_string()))?;
        let arguments = Arguments::default().text(epoch).text(limit).text(act).text(given);
        let arguments = these.into_iter().fold(arguments, Arguments::bytes);
        let answer = self.slot.run(|connection| async move {
            Ok(self.script.run(&connection, &self.keys, &arguments).await?)
        });
        self.read(epoch, answer.await.map_err(|error| SweepError::of_store(&self.name, error))?)
    }

    fn read(&self, epoch: Epoch, answer: Value) -> Result<Done, SweepError> {
        let strange = |_| self.rejected("the script gave an answer of an unknown form".to_owned());
        let (word, rest) = split_answer(answer).map_err(strange)?;
        match word.as_str() {
            "swept" => from_redis_value(rest).map_err(strange),
            "behind" => {
                let (highest,) = from_redis_value(rest).map_err(strange)?;
                let (resource, highest) = (self.resource.clone(), Epoch(highest));
                Err(StaleEpoch { resource, given: epoch, highest }.into())
            }
            "foreign" => {
                let detail =
                    format!("its fence {} holds something other than an epoch", self.keys[0]);
                Err(self.rejected(detail))
            }
            "refused" => {
                let (why,): (String,) = from_redis_value(rest).map_err(strange)?;
                Err(self.rejected(why))
            }
            word => Err(self.rejected(format!("the script gave the unknown answer {word:?}"))),
        }
    }

    fn rejected(&self, detail: String) -> SweepError {
        SweepError::Rejected { target: self.name.clone(), detail }
    }
}

#[async_trait]
impl Sweep for RedisSweep {
    fn name(&self) -> &str {
        &self.name
    }

    async fn examine(&self) -> Result<(), SweepError> {
        let index = &self.keys[1];
        let kind = ask::<String>(&self.slot, cmd("TYPE").arg(index)).await;
        match kind.map_err(|error| SweepError::of_store(&self.name, error))?.as_str() {
            "zset" | "none" => Ok(()),
            kind => Err(self.rejected(format!("{index} is a {kind}, and a sorted set is needed"))),
        }
    }

    async fn batch(&self, epoch: Epoch, limit: u32) -> Result<Swept, SweepError> {
        let act = match &self.strategy {
            Strategy::Delete => ("delete", ""),
            Strategy::SoftDelete { column } => ("soft", column.as_str()),
            Strategy::Archive { into } => ("archive", into.as_str()),
            Strategy::Callback(_) => ("read", ""),
        };
        let (gone, due, found) = self.run(epoch, limit, act, Vec::new()).await?;
        let more = due >= limit;
        let Strategy::Callback(callback) = &self.strategy else {
            return Ok(Swept { records: gone, more });
        };
        if due == 0 {
            return Ok(Swept::default());
        }
        let (keys, records) = found.into_iter().map(record).unzip();
        callback.call(&self.name, records).await?;
        let (records, ..) = self.run(epoch, limit, ("remove", ""), keys).await?;
        Ok(Swept { records, more })
    }
}

/// The name of a key that is due, and what a callback gets of it.
fn record((key, score, value): Due) -> (Vec<u8>, Json) {
    let name = String::from_utf8_lossy(&key);
    let (name, score) = (Json::from(name), Json::from(score));
    let fields = Json::from_iter([("key", name), ("expires_ms", score), ("value", json(value))]);
    (key, fields)
}

/// A string as text, a hash as an object; nothing of what is of another type.
fn json(value: Value) -> Json {
    match value {
        Value::BulkString(bytes) => Json::from(String::from_utf8_lossy(&bytes)),
        Value::Array(fields) => {
            let words: Vec<String> = fields.into_iter().filter_map(text).collect();
            let pairs = words.chunks_exact(2);
            let pairs = pairs.map(|pair| (pair[0].clone(), Json::from(pair[1].as_str())));
            Json::Object(pairs.collect())
        }
        _ => Json::Null,
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        _ => None,
    }
}

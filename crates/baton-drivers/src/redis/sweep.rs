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

use ::redis::{FromRedisValue, Value};
use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_store::sweep::{Sweep, SweepError, Swept};
use baton_store::{StaleEpoch, StoreError};
use serde_json::{Map, Value as Json};

use super::NAME;
use super::config::RedisConfig;
use super::connect::{Dialer, within};
use super::engine::send;
use super::error;
use super::line::Line;
use super::script::{Arguments, Step};
use crate::refusal::Refusal;
use crate::sweep::{Keys, Strategy, Unfit};

/// An index that is swept.
struct RedisSweep {
    name: String,
    resource: String,
    /// The fence and the index.
    keys: [String; 2],
    line: Line,
    step: Step,
    strategy: Strategy,
}

/// What a script came to.
struct Done {
    gone: u32,
    due: u32,
    found: Vec<Value>,
}

/// A sweep of this index.
pub(crate) fn sweep(
    scheme: &str,
    rest: &str,
    keys: Keys,
    strategy: Strategy,
) -> Result<Arc<dyn Sweep>, Unfit> {
    if keys.index.is_empty() {
        return Err(Unfit::Empty { what: "the index of keys" });
    }
    match &strategy {
        Strategy::SoftDelete { column } if column.is_empty() => {
            return Err(Unfit::Empty { what: "the field that marks a key" });
        }
        Strategy::Archive { into } if into.is_empty() => {
            return Err(Unfit::Empty { what: "the prefix of archived keys" });
        }
        _ => {}
    }
    let refused = |refusal: Refusal| Unfit::Store(refusal);
    let config = RedisConfig::parse(scheme, rest).map_err(|wrong| refused(wrong.into()))?;
    let (place, resource) = (config.place(), format!("ttl:{}", keys.index));
    let fence = format!("{}fence:{{{resource}}}", config.prefix);
    let dialer = Dialer::new(config).map_err(|problem| refused(problem.refusal(place)))?;
    Ok(Arc::new(RedisSweep {
        name: format!("{NAME} index {}", keys.index),
        resource,
        keys: [fence, keys.index],
        line: Line::unconnected(Arc::new(dialer)),
        step: Step::new(
            "sweep",
            concat!(include_str!("lua/fence.lua"), include_str!("lua/sweep.lua")),
        ),
        strategy,
    }))
}

impl RedisSweep {
    /// Runs the script, once.
    async fn run(
        &self,
        epoch: Epoch,
        limit: u32,
        (act, given): (&str, &str),
        these: &[Vec<u8>],
    ) -> Result<Done, SweepError> {
        let told = |error| SweepError::of_store(&self.name, error);
        epoch.grantable().map_err(|problem| {
            let (target, detail) = (self.name.clone(), problem.to_string());
            SweepError::Rejected { target, detail }
        })?;
        let mut arguments = Arguments::default();
        arguments.number(epoch.0);
        arguments.number(u64::from(limit));
        arguments.push(act);
        arguments.push(given);
        these.iter().for_each(|key| arguments.push(key.as_slice()));
        let link = self.line.link().await.map_err(told)?;
        let timeout = self.line.timeout();
        match within(timeout, send(&link, &self.step, &self.keys, &arguments)).await {
            Some(Ok(answer)) => self.read(epoch, answer),
            Some(Err(problem)) => {
                if error::is_broken(&problem) {
                    self.line.part_with(&link);
                }
                Err(told(error::failed(&problem)))
            }
            None => {
                self.line.part_with(&link);
                let detail = format!("no answer in {} ms", timeout.as_millis());
                Err(told(StoreError::Unknown { detail }))
            }
        }
    }

    fn read(&self, epoch: Epoch, answer: Value) -> Result<Done, SweepError> {
        let mut pieces = Vec::<Value>::from_redis_value(answer).unwrap_or_default().into_iter();
        let mut next = || pieces.next().unwrap_or(Value::Nil);
        let strange = || self.rejected("the script answers what it never does".to_owned());
        match text(next()).as_deref() {
            Some("swept") => {
                let number = |value| u32::from_redis_value(value).map_err(|_| strange());
                let (gone, due) = (number(next())?, number(next())?);
                Ok(Done { gone, due, found: Vec::from_redis_value(next()).unwrap_or_default() })
            }
            Some("behind") => {
                let highest = text(next()).and_then(|text| text.parse().ok()).map(Epoch);
                let highest = highest.ok_or_else(strange)?;
                let resource = self.resource.clone();
                Err(StaleEpoch { resource, given: epoch, highest }.into())
            }
            Some("foreign") => {
                let detail =
                    format!("its fence {} holds something else than an epoch", self.keys[0]);
                Err(self.rejected(detail))
            }
            Some("refused") => Err(self.rejected(text(next()).unwrap_or_default())),
            _ => Err(strange()),
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
        let told = |error| SweepError::of_store(&self.name, error);
        let link = self.line.link().await.map_err(told)?;
        let mut connection = link.connection.clone();
        let index = &self.keys[1];
        let mut ask = redis::cmd("TYPE");
        let ask = ask.arg(index).query_async::<String>(&mut connection);
        match within(self.line.timeout(), ask).await {
            Some(Ok(kind)) if matches!(kind.as_str(), "zset" | "none") => Ok(()),
            Some(Ok(kind)) => {
                Err(self.rejected(format!("{index} is a {kind}, and a sorted set is needed")))
            }
            Some(Err(problem)) => Err(told(error::failed(&problem))),
            None => {
                let detail = format!("no answer in {} ms", self.line.timeout().as_millis());
                Err(told(StoreError::Unavailable { detail }))
            }
        }
    }

    async fn batch(&self, epoch: Epoch, limit: u32) -> Result<Swept, SweepError> {
        let act = match &self.strategy {
            Strategy::Delete => ("delete", ""),
            Strategy::SoftDelete { column } => ("soft", column.as_str()),
            Strategy::Archive { into } => ("archive", into.as_str()),
            Strategy::Callback(_) => ("read", ""),
        };
        let done = self.run(epoch, limit, act, &[]).await?;
        let more = done.due >= limit;
        let Strategy::Callback(callback) = &self.strategy else {
            return Ok(Swept { records: done.gone, more });
        };
        if done.due == 0 {
            return Ok(Swept::default());
        }
        let (keys, records) = done.found.into_iter().filter_map(record).unzip();
        callback.call(records).await.map_err(|problem| SweepError::Callback {
            target: self.name.clone(),
            detail: problem.to_string(),
        })?;
        let keys: Vec<Vec<u8>> = keys;
        let removed = self.run(epoch, limit, ("remove", ""), &keys).await?;
        Ok(Swept { records: removed.gone, more })
    }
}

/// A key that is due: its name, and what a callback is told of it.
fn record(found: Value) -> Option<(Vec<u8>, Json)> {
    let (key, score, value): (Vec<u8>, f64, Value) =
        FromRedisValue::from_redis_value(found).ok()?;
    let mut told = Map::new();
    told.insert("key".to_owned(), Json::from(String::from_utf8_lossy(&key)));
    told.insert("expires_ms".to_owned(), Json::from(score));
    told.insert("value".to_owned(), json(value));
    Some((key, Json::Object(told)))
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

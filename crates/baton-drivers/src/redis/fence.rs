//! The user's own writes, conditional on the epoch: the fence is checked and raised in the same
//! script that runs the user's commands, on the user's own connection.
//!
//! ```text
//!   fence.write(connection, epoch, keys, commands) ── EVALSHA ──► the fence's epoch > ours?
//!                                                                 then StaleEpoch
//!                                                                 else raise it, run the commands
//! ```
//!
//! Users of other languages run [`SCRIPT`] with `EVAL` themselves. People list and reset the fences
//! at the keys that `Fence::new` and the sweeps choose.

use std::collections::BTreeSet;

use ::redis::aio::ConnectionLike;
use ::redis::{Arg, Cmd, RedisError, Script, Value, cmd, from_redis_value};
use baton_core::ids::Epoch;
use baton_store::{StaleEpoch, StoreError};

use super::config::RedisConfig;
use super::connect::{RedisConnector, ask, literal, scan};
use super::script::split_answer;
use crate::OpenError;
use crate::driver::ConnectionSlot;
use crate::fences::{FencesError, StoredFence};

/// The script, for clients in other languages. Its head says what it wants and what it answers.
pub const SCRIPT: &str = concat!(include_str!("lua/fence.lua"), include_str!("lua/fenced.lua"));

/// What stands before the resource in the key of a fence; a brace follows it.
const HEAD: &str = "baton:fence:{";

/// Why a write was not admitted. If the server did not answer, the write may have taken place.
pub type FenceError = crate::FenceError<RedisError>;

impl From<RedisError> for FenceError {
    fn from(error: RedisError) -> Self {
        Self::Store(error)
    }
}

/// The fence of one resource: the highest epoch that was admitted wins.
///
/// ```no_run
/// # use baton_core::ids::Epoch;
/// # use baton_drivers::redis::fence::FenceError;
/// # use redis::aio::MultiplexedConnection;
/// # async fn example(connection: &mut MultiplexedConnection, epoch: Epoch)
/// # -> Result<(), FenceError> {
/// use baton_drivers::redis::fence::Fence;
///
/// let invoices = Fence::new("invoices");
/// let mut add = redis::cmd("RPUSH");
/// add.arg("{invoices}:open").arg("4711");
/// invoices.write(connection, epoch, &["{invoices}:open"], &[add]).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Fence {
    resource: String,
    key: String,
    script: Script,
}

impl Fence {
    /// The fence of this resource, at the key `baton:fence:{resource}`. On a Redis Cluster the
    /// user's keys need the same hash tag.
    pub fn new(resource: &str) -> Self {
        Self::at(resource, &format!("{HEAD}{resource}}}"))
    }

    /// The fence of this resource, at a key of one's own. It must have no time to live.
    pub fn at(resource: &str, key: &str) -> Self {
        let (resource, key) = (resource.to_owned(), key.to_owned());
        Self { resource, key, script: Script::new(SCRIPT) }
    }

    /// Runs these commands one after another, in one step with the check of the fence, and returns
    /// what each answered. `keys` are all the keys that they touch.
    ///
    /// A command that fails ends the step with its error; what the ones before it did stays, as in
    /// any Redis script.
    pub async fn write(
        &self,
        connection: &mut impl ConnectionLike,
        epoch: impl Into<Epoch>,
        keys: &[&str],
        commands: &[Cmd],
    ) -> Result<Vec<Value>, FenceError> {
        let epoch = epoch.into().grantable()?;
        let mut call = self.script.key(&self.key);
        for key in keys {
            call.key(*key);
        }
        call.arg(epoch.0);
        for command in commands {
            call.arg(command.args_iter().len());
            for word in command.args_iter() {
                match word {
                    Arg::Simple(bytes) => call.arg(bytes),
                    // A cursor stands at its beginning: a write does not scan.
                    _ => call.arg(0),
                };
            }
        }
        let (word, rest) =
            split_answer(call.invoke_async(connection).await?).map_err(RedisError::from)?;
        match word.as_str() {
            "written" => Ok(from_redis_value(rest).map_err(RedisError::from)?),
            "behind" => {
                let (highest,) = from_redis_value(rest).map_err(RedisError::from)?;
                let (resource, highest) = (self.resource.clone(), Epoch(highest));
                Err(StaleEpoch { resource, given: epoch, highest }.into())
            }
            _ => Err(FenceError::Foreign {
                resource: self.resource.clone(),
                found: "it was left as it is".to_owned(),
            }),
        }
    }
}

/// A connection, and what may stand before the name of a fence in its key.
struct Fences {
    slot: ConnectionSlot<RedisConnector>,
    heads: BTreeSet<String>,
}

impl Fences {
    async fn open(scheme: &str, rest: &str) -> Result<Self, FencesError> {
        let config = RedisConfig::parse(scheme, rest).map_err(OpenError::from)?;
        let heads = [HEAD.to_owned(), format!("{}fence:{{", config.prefix)];
        let slot = RedisConnector::slot(config, None)?;
        slot.get().await?;
        Ok(Self { slot, heads: heads.into() })
    }

    /// The highest epoch under this key; `None` if there is none, or something else.
    async fn epoch(&self, key: &str) -> Result<Option<Epoch>, StoreError> {
        let found: Option<String> = ask(&self.slot, cmd("GET").arg(key)).await?;
        Ok(found.and_then(|text| text.parse().ok()).map(Epoch))
    }
}

/// Every fence of the database.
pub(crate) async fn list(scheme: &str, rest: &str) -> Result<Vec<StoredFence>, FencesError> {
    let fences = Fences::open(scheme, rest).await?;
    let mut found = Vec::new();
    for head in &fences.heads {
        let keys = scan(&fences.slot, &format!("{}*}}", literal(head)), "string").await?;
        for key in keys {
            let name = key.strip_prefix(head.as_str()).and_then(|name| name.strip_suffix('}'));
            if let (Some(resource), Some(epoch)) = (name, fences.epoch(&key).await?) {
                found.push(StoredFence { resource: resource.to_owned(), epoch });
            }
        }
    }
    Ok(found)
}

/// Takes a fence away, and says how high it was.
pub(crate) async fn reset(
    scheme: &str,
    rest: &str,
    resource: &str,
) -> Result<Option<Epoch>, FencesError> {
    let fences = Fences::open(scheme, rest).await?;
    let mut highest = None;
    for head in &fences.heads {
        let key = format!("{head}{resource}}}");
        if let Some(epoch) = fences.epoch(&key).await? {
            ask::<u64>(&fences.slot, cmd("DEL").arg(&key)).await?;
            highest = highest.max(Some(epoch));
        }
    }
    Ok(highest)
}

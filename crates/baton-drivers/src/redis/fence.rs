//! The user's own writes, conditional on the epoch: the fence is checked and raised in the same
//! script that runs the user's commands, on the user's own connection.
//!
//! ```text
//!   fence.write(connection, epoch, keys, commands) ── EVALSHA ──► the fence's epoch > ours?
//!                                                                 then StaleEpoch
//!                                                                 else raise it, run the commands
//! ```
//!
//! Users of other languages run [`SCRIPT`] with `EVAL` themselves.

use ::redis::aio::ConnectionLike;
use ::redis::{Arg, Cmd, RedisError, Script, Value};
use baton_core::ids::Epoch;
use baton_store::StaleEpoch;

/// The script, for clients in other languages. Its head says what it wants and what it answers.
pub const SCRIPT: &str = concat!(include_str!("lua/fence.lua"), include_str!("lua/fenced.lua"));

/// What stands before the resource in the key of a fence; a brace follows it.
pub(super) const HEAD: &str = "baton:fence:{";

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
        epoch: Epoch,
        keys: &[&str],
        commands: &[Cmd],
    ) -> Result<Vec<Value>, FenceError> {
        epoch.grantable()?;
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
        let mut answer: Vec<Value> = call.invoke_async(connection).await?;
        let rest = if answer.is_empty() { Vec::new() } else { answer.split_off(1) };
        match answer.first() {
            Some(Value::BulkString(word)) if word == b"written" => Ok(rest),
            Some(Value::BulkString(word)) if word == b"behind" => {
                let highest = rest.into_iter().next().unwrap_or_default();
                let highest = Epoch(::redis::from_redis_value(highest).map_err(RedisError::from)?);
                Err(StaleEpoch { resource: self.resource.clone(), given: epoch, highest }.into())
            }
            _ => Err(FenceError::Foreign {
                resource: self.resource.clone(),
                found: "it was left as it is".to_owned(),
            }),
        }
    }
}

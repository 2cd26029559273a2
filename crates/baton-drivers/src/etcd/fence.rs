//! Fenced writes of the user's own keys: a leader that was paused and comes back too late is
//! refused, in the same transaction as its write.
//!
//! ```text
//!   PREFIX/NAMESPACE/fences/RESOURCE ── the highest epoch that wrote, all its digits
//!
//!   if   value(fence) < "…5~"          no later epoch than 5 wrote
//!   then put fence "…5", and the user's own operations
//!   else get fence                     behind, and by whom
//! ```
//!
//! [`Guard`] is that condition as data, for a transaction of any etcd client. [`Fence`] does
//! the usual: put a key, or change what it says.

use baton_core::ids::{Epoch, Namespace};
use baton_store::{StaleEpoch, StoreError};

use super::config::EtcdConfig;
use super::connect::Connection;
use super::error::GatewayError;
use super::records::{self, Record};
use super::schema::Keys;
use super::wire::{Compare, KeyValue, Op, Range, Txn, TxnAnswer};
use crate::OpenError;
use crate::fences::{FencesError, StoredFence};

/// How often a change is tried that others keep getting ahead of.
const TRIES: usize = 200;

/// What to add to a transaction of one's own, so that it is refused once a later epoch wrote: one
/// comparison, and one put. Needs the key to be there; [`Fence::open`] sees to that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The key of the fence.
    pub key: String,
    /// Compare: target `VALUE`, result `LESS`, with this.
    pub less_than: Vec<u8>,
    /// Put this under the key, first of all.
    pub value: Vec<u8>,
}

/// Why a write was not admitted. [`StoreError::Unknown`] if no answer came: read back.
pub type FenceError = crate::FenceError<StoreError>;

impl From<StoreError> for FenceError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// The fence of one resource, with a connection of its own.
pub struct Fence {
    connection: Connection,
    resource: String,
    key: String,
}

impl Fence {
    /// The fence of a resource, which is anything that only one leader may write to at a time.
    /// It belongs to a namespace, whose epochs it compares.
    pub async fn open(url: &str, namespace: &Namespace, resource: &str) -> Result<Self, OpenError> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("etcd", url));
        let (connection, keys) = opened(scheme, rest, namespace)?;
        let key = keys.resource(resource);
        let txn = Txn {
            compare: vec![Compare::absent(&key)],
            success: vec![Op::put(&key, Epoch::NONE.write())],
            failure: Vec::new(),
        };
        let made: Result<TxnAnswer, _> = connection.ask("kv/txn", &txn).await;
        let (place, prefix) = (&connection.config.place, &connection.config.prefix);
        made.map_err(|error| error.at_opening(place, prefix))?;
        Ok(Self { resource: resource.to_owned(), key, connection })
    }

    /// The condition for a transaction of one's own.
    pub fn guard(&self, epoch: impl Into<Epoch>) -> Guard {
        let value = epoch.into().write();
        // Longer than any epoch's digits, so the epoch itself still passes.
        let less_than = [&value[..], b"~"].concat();
        Guard { key: self.key.clone(), less_than, value }
    }

    /// Puts a key, unless a later epoch has written to the resource.
    ///
    /// # Errors
    ///
    /// [`StaleEpoch`], with nothing written. [`StoreError::Unknown`] if no answer came: read back.
    pub async fn put(
        &self,
        epoch: impl Into<Epoch>,
        key: &str,
        value: &[u8],
    ) -> Result<(), FenceError> {
        let epoch = epoch.into().grantable()?;
        self.commit(epoch, None, key, value).await.map(drop)
    }

    /// Changes what a key says, unless a later epoch has written to the resource. `change` gets
    /// what it says now, and is called again if another writer was first.
    ///
    /// # Errors
    ///
    /// As [`Fence::put`]; [`StoreError::Throttled`] if others were ahead 200 times.
    pub async fn update(
        &self,
        epoch: impl Into<Epoch>,
        key: &str,
        change: impl Fn(Option<&[u8]>) -> Vec<u8>,
    ) -> Result<(), FenceError> {
        let epoch = epoch.into().grantable()?;
        let look = Txn { success: self.both(key), ..Txn::default() };
        let answer: Result<TxnAnswer, _> = self.connection.ask("kv/txn", &look).await;
        let mut answer = answer.map_err(GatewayError::of_read)?;
        for _ in 0..TRIES {
            let found = found(&answer, 1);
            let revision = found.map_or(0, |found| found.mod_revision);
            let value = change(found.map(|found| found.value.as_slice()));
            let same = Some(Compare::written_at(key, revision));
            match self.commit(epoch, same, key, &value).await? {
                None => return Ok(()),
                Some(now) => answer = now,
            }
        }
        let detail = format!("other processes wrote first, {TRIES} times in a row");
        Err(StoreError::Throttled { detail }.into())
    }

    /// Puts the key if no later epoch wrote and this condition holds too. `None` if it was put;
    /// else the condition did not hold, and this is how things are.
    async fn commit(
        &self,
        epoch: Epoch,
        same: Option<Compare>,
        key: &str,
        value: &[u8],
    ) -> Result<Option<TxnAnswer>, FenceError> {
        let (guard, is_alone) = (self.guard(epoch), same.is_none());
        let fence = Compare::less_than(&guard.key, &guard.less_than);
        let compare = same.into_iter().chain([fence]).collect();
        let success = vec![Op::put(&guard.key, guard.value), Op::put(key, value)];
        let txn = Txn { compare, success, failure: self.both(key) };
        let answer = self.connection.commit(&txn).await?;
        if answer.succeeded {
            return Ok(None);
        }
        let deleted = || StoreError::Corrupt {
            record: format!("the fence {}", self.key),
            detail: "it was deleted".to_owned(),
        };
        let highest = epoch_of(found(&answer, 0).ok_or_else(deleted)?)?;
        if is_alone || highest > epoch {
            return Err(
                StaleEpoch { resource: self.resource.clone(), given: epoch, highest }.into()
            );
        }
        Ok(Some(answer))
    }

    fn both(&self, key: &str) -> Vec<Op> {
        [Range::key(&self.key), Range::key(key)].map(Op::range).into()
    }
}

fn found(answer: &TxnAnswer, at: usize) -> Option<&KeyValue> {
    answer.responses.get(at)?.response_range.kvs.first()
}

fn opened(
    scheme: &str,
    rest: &str,
    namespace: &Namespace,
) -> Result<(Connection, Keys), OpenError> {
    let config = EtcdConfig::parse(scheme, rest)?;
    let keys = Keys::new(&config.prefix, namespace);
    Ok((Connection::new(config)?, keys))
}

fn epoch_of(found: &KeyValue) -> Result<Epoch, StoreError> {
    let what = || format!("the fence {}", String::from_utf8_lossy(&found.key));
    Ok(records::read(found, what)?.record)
}

/// The fences of a namespace, for people.
pub(crate) async fn list(
    scheme: &str,
    rest: &str,
    namespace: &Namespace,
) -> Result<Vec<StoredFence>, FencesError> {
    let (connection, keys) = opened(scheme, rest, namespace)?;
    let folder = keys.resource("");
    let mut fences = Vec::new();
    for known in connection.range(&Range::under(&folder)).await? {
        let key = String::from_utf8_lossy(&known.key);
        let resource = key.strip_prefix(&folder).unwrap_or(&key).to_owned();
        let epoch = epoch_of(&known)?;
        // The others were reset, or never raised.
        if epoch > Epoch::NONE {
            fences.push(StoredFence { resource, epoch });
        }
    }
    Ok(fences)
}

/// Resets a fence, and says how high it was. The key stays: a writer that has the fence open
/// compares with it.
pub(crate) async fn reset(
    scheme: &str,
    rest: &str,
    namespace: &Namespace,
    resource: &str,
) -> Result<Option<Epoch>, FencesError> {
    let (connection, keys) = opened(scheme, rest, namespace)?;
    let key = keys.resource(resource);
    let known = connection.range(&Range::key(&key)).await?;
    let Some(known) = known.first() else { return Ok(None) };
    let highest = Some(epoch_of(known)?).filter(|epoch| *epoch > Epoch::NONE);
    let lower = Txn {
        compare: vec![Compare::written_at(&key, known.mod_revision)],
        success: vec![Op::put(&key, Epoch::NONE.write())],
        failure: Vec::new(),
    };
    match connection.commit(&lower).await?.succeeded {
        true => Ok(highest),
        false => {
            let detail = "the fence was raised meanwhile; is a leader still writing?".to_owned();
            Err(StoreError::Refused { detail }.into())
        }
    }
}

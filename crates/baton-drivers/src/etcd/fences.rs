//! The fences of a namespace, for people.

use baton_core::ids::{Epoch, Namespace};
use baton_store::StoreError;

use super::config::EtcdConfig;
use super::connect::Link;
use super::error::Trouble;
use super::keys::Keys;
use super::record::Record;
use super::wire::{Compare, KeyValue, Op, Range, RangeAnswer, Txn, TxnAnswer};
use crate::fences::{FencesError, StoredFence};
use crate::refusal::Refusal;

fn opened(scheme: &str, rest: &str) -> Result<Link, FencesError> {
    let config = EtcdConfig::from_location(scheme, rest).map_err(Refusal::from)?;
    Ok(super::connected(config)?)
}

async fn found(link: &Link, range: &Range) -> Result<Vec<KeyValue>, StoreError> {
    let answer: Result<RangeAnswer, _> = link.ask("kv/range", range, link.deadline()).await;
    Ok(answer.map_err(Trouble::of_read)?.kvs)
}

fn epoch(found: &KeyValue) -> Result<Epoch, StoreError> {
    let record = || format!("the fence {}", String::from_utf8_lossy(&found.key.0));
    Epoch::read(&found.value.0).map_err(|detail| StoreError::Corrupt { record: record(), detail })
}

pub(crate) async fn list(
    scheme: &str,
    rest: &str,
    namespace: &Namespace,
) -> Result<Vec<StoredFence>, FencesError> {
    let link = opened(scheme, rest)?;
    let folder = Keys::new(&link.config.prefix, namespace).resource("");
    let mut fences = Vec::new();
    for known in found(&link, &Range::under(&folder)).await? {
        let key = String::from_utf8_lossy(&known.key.0);
        let resource = key.strip_prefix(&folder).unwrap_or(&key).to_owned();
        let epoch = epoch(&known)?;
        // One that was reset, or never raised.
        if epoch > Epoch::NONE {
            fences.push(StoredFence { resource, epoch });
        }
    }
    Ok(fences)
}

/// The key stays: a writer that has the fence open compares with it.
pub(crate) async fn reset(
    scheme: &str,
    rest: &str,
    namespace: &Namespace,
    resource: &str,
) -> Result<Option<Epoch>, FencesError> {
    let link = opened(scheme, rest)?;
    let key = Keys::new(&link.config.prefix, namespace).resource(resource);
    let known = found(&link, &Range::key(&key)).await?;
    let Some(known) = known.first() else { return Ok(None) };
    let highest = Some(epoch(known)?).filter(|epoch| *epoch > Epoch::NONE);
    let lower = Txn {
        compare: vec![Compare::written_at(&key, known.mod_revision.0)],
        success: vec![Op::put(&key, Epoch::NONE.write())],
        failure: Vec::new(),
    };
    let answer: Result<TxnAnswer, _> = link.ask("kv/txn", &lower, link.deadline()).await;
    match answer.map_err(Trouble::of_write)?.succeeded {
        true => Ok(highest),
        false => {
            let detail = "the fence was raised meanwhile; is a leader still writing?".to_owned();
            Err(StoreError::Refused { detail }.into())
        }
    }
}

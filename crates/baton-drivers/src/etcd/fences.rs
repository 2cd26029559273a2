//! The fences of a namespace, for people.

use baton_core::ids::{Epoch, Namespace};
use baton_store::StoreError;

use super::config::EtcdConfig;
use super::connect::Connection;
use super::record::Record;
use super::schema::Keys;
use super::wire::{Compare, KeyValue, Op, Range, Txn};
use crate::OpenError;
use crate::fences::{FencesError, StoredFence};

fn opened(
    scheme: &str,
    rest: &str,
    namespace: &Namespace,
) -> Result<(Connection, Keys), FencesError> {
    let config = EtcdConfig::from_location(scheme, rest).map_err(OpenError::from)?;
    let keys = Keys::new(&config.prefix, namespace);
    Ok((Connection::new(config)?, keys))
}

fn epoch(found: &KeyValue) -> Result<Epoch, StoreError> {
    let record = || format!("the fence {}", String::from_utf8_lossy(&found.key));
    Epoch::read(&found.value).map_err(|detail| StoreError::Corrupt { record: record(), detail })
}

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
        let epoch = epoch(&known)?;
        // The others were reset, or never raised.
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
    let (connection, keys) = opened(scheme, rest, namespace)?;
    let key = keys.resource(resource);
    let known = connection.range(&Range::key(&key)).await?;
    let Some(known) = known.first() else { return Ok(None) };
    let highest = Some(epoch(known)?).filter(|epoch| *epoch > Epoch::NONE);
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

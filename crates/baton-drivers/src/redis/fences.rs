//! The fences of a database, for people: the keys that `Fence::new` and the sweeps choose.

use std::collections::BTreeSet;

use ::redis::{Cmd, FromRedisValue, cmd};
use baton_core::ids::Epoch;
use baton_store::StoreError;

use super::config::RedisConfig;
use super::connect::{RedisConnector, literal, scan};
use crate::OpenError;
use crate::driver::ConnectionSlot;
use crate::fences::{FencesError, StoredFence};

/// A connection, and what may stand before the name of a fence in its key.
struct Fences {
    slot: ConnectionSlot<RedisConnector>,
    heads: BTreeSet<String>,
}

impl Fences {
    async fn open(scheme: &str, rest: &str) -> Result<Self, FencesError> {
        let config = RedisConfig::parse(scheme, rest).map_err(OpenError::from)?;
        let heads = [super::fence::HEAD.to_owned(), format!("{}fence:{{", config.prefix)];
        let slot = RedisConnector::slot(config, None)?;
        slot.get().await?;
        Ok(Self { slot, heads: heads.into() })
    }

    async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        let ask = self.slot.run(|connection| async move { Ok(connection.query(command).await?) });
        ask.await
    }

    /// The highest epoch under this key; `None` if there is none, or something else.
    async fn epoch(&self, key: &str) -> Result<Option<Epoch>, StoreError> {
        let found: Option<String> = self.ask(cmd("GET").arg(key)).await?;
        Ok(found.and_then(|text| text.parse().ok()).map(Epoch))
    }
}

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
            fences.ask::<u64>(cmd("DEL").arg(&key)).await?;
            highest = highest.max(Some(epoch));
        }
    }
    Ok(highest)
}

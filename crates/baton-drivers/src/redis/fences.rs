//! The fences of a database, for people: the keys that `Fence::new` and the sweeps choose.

use std::collections::BTreeSet;

use ::redis::{Cmd, FromRedisValue, cmd};
use baton_core::ids::Epoch;
use baton_store::StoreError;

use super::config::RedisConfig;
use super::connect::{Dialer, Link, within};
use super::error;
use crate::fences::{FencesError, StoredFence};
use crate::refusal::Refusal;

/// How many keys a step of the search looks at.
const AT_ONCE: usize = 1_000;

/// A connection, and what may stand before the name of a fence in its key.
struct Fences {
    link: Link,
    config: RedisConfig,
    heads: BTreeSet<String>,
}

impl Fences {
    async fn open(scheme: &str, rest: &str) -> Result<Self, FencesError> {
        let parse = || RedisConfig::parse(scheme, rest).map_err(Refusal::from);
        let (config, place) = (parse()?, parse()?.place());
        let refused = |problem: error::NoLink| problem.refusal(place.clone());
        let dialer = Dialer::new(parse()?).map_err(refused)?;
        let link = dialer.dial(None).await.map_err(refused)?;
        let heads = [super::fence::HEAD.to_owned(), format!("{}fence:{{", config.prefix)];
        Ok(Self { link, config, heads: heads.into() })
    }

    async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        let mut connection = self.link.connection.clone();
        let timeout = self.config.timeout;
        match within(timeout, command.query_async(&mut connection)).await {
            Some(answer) => answer.map_err(|problem| error::failed(&problem)),
            None => {
                let detail = format!("no answer in {} ms", timeout.as_millis());
                Err(StoreError::Unknown { detail })
            }
        }
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
        let mut cursor = 0_u64;
        let mut keys = BTreeSet::new();
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(format!("{}*}}", literal(head)));
            scan.arg("COUNT").arg(AT_ONCE).arg("TYPE").arg("string");
            let (next, some): (u64, Vec<String>) = fences.ask(&scan).await?;
            keys.extend(some);
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
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

/// So that a pattern finds it as it stands.
fn literal(text: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\' | '^');
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

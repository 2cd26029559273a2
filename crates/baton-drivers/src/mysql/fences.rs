//! The fences of a database, for people.

use baton_core::ids::Epoch;
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error};

use super::config::MysqlConfig;
use super::connect::{Servers, before};
use super::error::Fault;
use crate::fences::{FencesError, StoredFence};
use crate::refusal::Refusal;

/// There is no such table.
const NO_TABLE: u16 = 1146;

/// Does this with a connection and the name of the register; `None` if there is no register.
async fn with_register<T>(
    scheme: &str,
    rest: &str,
    work: impl AsyncFnOnce(&mut Conn, &str) -> Result<T, Error>,
) -> Result<Option<T>, FencesError> {
    let config = MysqlConfig::from_location(scheme, rest).map_err(Refusal::from)?;
    let servers = Servers::new(config)?;
    let (timeout, database) = (servers.config.timeout, servers.config.database.clone());
    let table = format!("{}fences", servers.config.prefix);
    let mut conn = servers.connect().await.map_err(|f| f.refusal(servers.place(), &database))?;
    let told = |fault: Fault| -> StoreError { fault.store_error(&servers.place(), None) };
    match before(&mut SystemClock.sleep(timeout), work(&mut conn, &table)).await {
        Some(Ok(done)) => Ok(Some(done)),
        Some(Err(Error::Server(error))) if error.code == NO_TABLE => Ok(None),
        Some(Err(error)) => Err(told(Fault::Call(error)).into()),
        None => Err(told(Fault::Late(timeout)).into()),
    }
}

pub(crate) async fn list(scheme: &str, rest: &str) -> Result<Vec<StoredFence>, FencesError> {
    let found = with_register(scheme, rest, async |conn: &mut Conn, table: &str| {
        let all = format!("SELECT resource, epoch FROM `{table}`");
        conn.query_map(all, |(resource, epoch): (Vec<u8>, u64)| {
            let resource = String::from_utf8_lossy(&resource).into_owned();
            StoredFence { resource, epoch: Epoch(epoch) }
        })
        .await
    });
    Ok(found.await?.unwrap_or_default())
}

pub(crate) async fn reset(
    scheme: &str,
    rest: &str,
    resource: &str,
) -> Result<Option<Epoch>, FencesError> {
    let gone = with_register(scheme, rest, async |conn: &mut Conn, table: &str| {
        let look = format!("SELECT epoch FROM `{table}` WHERE resource = ?");
        let epoch: Option<u64> = conn.exec_first(look, (resource.as_bytes(),)).await?;
        let delete = format!("DELETE FROM `{table}` WHERE resource = ?");
        conn.exec_drop(delete, (resource.as_bytes(),)).await?;
        Ok(epoch.map(Epoch))
    });
    Ok(gone.await?.flatten())
}

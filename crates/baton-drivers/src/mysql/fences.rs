//! The fences of a database, for people.

use baton_core::ids::Epoch;
use baton_store::StoreError;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error};

use super::config::MysqlConfig;
use super::connect::Servers;
use super::error::QueryError;
use crate::OpenError;
use crate::driver::within;
use crate::fences::{FencesError, StoredFence};

/// There is no such table.
const NO_TABLE: u16 = 1146;

/// Does this with a connection and the name of the register; `None` if there is no register.
async fn with_register<T>(
    scheme: &str,
    rest: &str,
    work: impl AsyncFnOnce(&mut Conn, &str) -> Result<T, Error>,
) -> Result<Option<T>, FencesError> {
    let config = MysqlConfig::from_location(scheme, rest).map_err(OpenError::from)?;
    let servers = Servers::new(config)?;
    let (timeout, database) = (servers.config.timeout, servers.config.database.clone());
    let table = format!("{}fences", servers.config.prefix);
    let mut conn = servers
        .connect()
        .await
        .map_err(|error| error.into_open_error(servers.place(), &database))?;
    let failed = |error: QueryError| -> StoreError {
        error.into_driver_error(&servers.place(), None).into_store_error()
    };
    match within(timeout, work(&mut conn, &table)).await {
        Some(Ok(done)) => Ok(Some(done)),
        Some(Err(Error::Server(error))) if error.code == NO_TABLE => Ok(None),
        Some(Err(error)) => Err(failed(QueryError::Call(error)).into()),
        None => Err(failed(QueryError::Late(timeout)).into()),
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

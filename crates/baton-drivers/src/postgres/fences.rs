//! The fences of a database, for people.

use baton_core::ids::Epoch;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::EXAMPLE;
use super::config::PostgresConfig;
use super::connect::PostgresConnector;
use super::context::Param;
use crate::OpenError;
use crate::address::Address;
use crate::driver::{ConnectionSlot, Record};
use crate::fences::{FencesError, StoredFence};
use crate::reader::Access;

/// The rows of one statement on the register; none if there is no register.
async fn rows(
    scheme: &str,
    rest: &str,
    access: Access,
    sql: &str,
    params: &[Param<'_>],
) -> Result<Vec<Row>, FencesError> {
    let address = Address::parse(scheme, rest, EXAMPLE).map_err(OpenError::from)?;
    let config = PostgresConfig::from_address(address).map_err(OpenError::from)?;
    let (timeout, sql) = (config.timeout, sql.replace("{t}", &config.names()));
    let slot = ConnectionSlot::new(PostgresConnector::new(config, access)?, timeout);
    // Without a connection the error is one of opening.
    drop(slot.get().await?);
    let sql = sql.as_str();
    let rows = slot.run(|connection| async move {
        match connection.client.query_typed(sql, params).await {
            Err(problem) if problem.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(Vec::new()),
            rows => Ok(rows?),
        }
    });
    Ok(rows.await?)
}

fn epoch(row: &Row) -> Result<Epoch, FencesError> {
    let number = Record::new(row, "a fence").number("epoch");
    Ok(Epoch(number.map_err(crate::driver::DriverError::into_store_error)?))
}

pub(crate) async fn list(scheme: &str, rest: &str) -> Result<Vec<StoredFence>, FencesError> {
    let sql = "SELECT resource, epoch::text FROM {t}fences";
    let rows = rows(scheme, rest, Access::Read, sql, &[]).await?;
    let fence = |row: &Row| {
        let resource = Record::new(row, "a fence").text("resource");
        let resource = resource.map_err(crate::driver::DriverError::into_store_error)?;
        Ok(StoredFence { resource: resource.to_owned(), epoch: epoch(row)? })
    };
    rows.iter().map(fence).collect()
}

pub(crate) async fn reset(
    scheme: &str,
    rest: &str,
    resource: &str,
) -> Result<Option<Epoch>, FencesError> {
    let sql = "DELETE FROM {t}fences WHERE resource = $1 RETURNING epoch::text";
    let rows = rows(scheme, rest, Access::Write, sql, &[(&resource, Type::TEXT)]).await?;
    rows.first().map(epoch).transpose()
}

//! The fences of a database, for people.

use std::sync::Arc;

use baton_core::ids::Epoch;
use baton_store::StoreError;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::config::PostgresConfig;
use super::connect::connect;
use super::error::Fault;
use super::hints::Ears;
use super::link::within;
use super::step::Param;
use super::{EXAMPLE, NAME, tls};
use crate::address::Address;
use crate::fences::{FencesError, StoredFence};
use crate::reader::Access;
use crate::refusal::Refusal;

/// The rows of one statement on the register; none if there is no register.
async fn rows(
    scheme: &str,
    rest: &str,
    access: Access,
    sql: &str,
    params: &[Param<'_>],
) -> Result<Vec<Row>, FencesError> {
    let address = Address::parse(scheme, rest, EXAMPLE).map_err(Refusal::from)?;
    let config = PostgresConfig::from_address(address).map_err(Refusal::from)?;
    let refused = |detail| Refusal::Tls { store: NAME, place: config.place(), detail };
    let tls = tls::connector(&config).map_err(refused)?;
    let link = connect(&config, access, &tls, &Arc::new(Ears::default()), 0).await?;
    let sql = sql.replace("{t}", &config.names());
    match within(config.timeout, link.client.query_typed(&sql, params)).await {
        Some(Ok(rows)) => Ok(rows),
        Some(Err(problem)) if problem.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(Vec::new()),
        Some(Err(problem)) => Err(Fault::from(problem).told().into()),
        None => {
            let detail = format!("no answer in {} ms", config.timeout.as_millis());
            Err(StoreError::Unknown { detail }.into())
        }
    }
}

fn epoch(row: &Row, column: usize) -> Result<Epoch, FencesError> {
    let text: String = row.try_get(column).map_err(|problem| Fault::from(problem).told())?;
    let corrupt = |_| StoreError::Corrupt { record: "a fence".to_owned(), detail: text.clone() };
    Ok(Epoch(text.parse().map_err(corrupt)?))
}

pub(crate) async fn list(scheme: &str, rest: &str) -> Result<Vec<StoredFence>, FencesError> {
    let sql = "SELECT resource, epoch::text FROM {t}fences";
    let rows = rows(scheme, rest, Access::Read, sql, &[]).await?;
    let fence = |row: &Row| {
        let resource = row.try_get(0).map_err(|problem| Fault::from(problem).told())?;
        Ok(StoredFence { resource, epoch: epoch(row, 1)? })
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
    rows.first().map(|row| epoch(row, 0)).transpose()
}

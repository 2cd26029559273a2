//! Giving the lease up, and asking its holder for that.

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{Ask, Outcome, Release};
use tokio_postgres::types::{Json, Type};

use super::context::{CallContext, Param};
use crate::driver::{DriverError, Record};

/// Clears the holder and keeps everything else.
pub(super) async fn release(
    context: &CallContext<'_>,
    release: &Release,
    hint: &str,
) -> Result<Outcome, DriverError> {
    let sql = "SELECT {t}release($1, $2::numeric, $3, $4, $5)";
    let release = Json(release);
    context.outcome(sql, &[(&release, Type::JSONB), (&hint, Type::TEXT)]).await
}

/// Leaves a request beside the lease.
pub(super) async fn ask(
    context: &CallContext<'_>,
    epoch: Epoch,
    ask: &Ask,
    hint: &str,
) -> Result<Outcome, DriverError> {
    let sql = "SELECT {t}ask($1, $2::numeric, $3, $4::numeric, $5, $6)";
    let (epoch, ask) = (epoch.0.to_string(), Json(ask));
    let more: [Param<'_>; 3] = [(&epoch, Type::TEXT), (&ask, Type::JSONB), (&hint, Type::TEXT)];
    context.outcome(sql, &more).await
}

/// The namespaces that have a lease: this many after that one, in order.
pub(super) async fn namespaces(
    context: &CallContext<'_>,
    after: Option<&Namespace>,
    limit: u32,
) -> Result<Vec<Namespace>, DriverError> {
    let after = after.map_or("", Namespace::as_str);
    let sql = "SELECT lock_key FROM {t}locks WHERE lock_key > $2 ORDER BY lock_key LIMIT $3";
    let more: [Param<'_>; 2] = [(&after, Type::TEXT), (&i64::from(limit), Type::INT8)];
    let rows = context.rows(sql, &more).await?;
    let record = "the name of a namespace";
    rows.iter().map(|row| Record::new(row, record).namespace("lock_key")).collect()
}

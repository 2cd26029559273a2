//! Giving the lease up, and asking its holder for that.

use baton_core::ids::Epoch;
use baton_core::protocol::{Ask, Outcome, Release};
use tokio_postgres::types::{Json, Type};

use super::context::CallContext;
use crate::driver::DriverError;

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
    let more: [super::context::Param<'_>; 3] =
        [(&epoch, Type::TEXT), (&ask, Type::JSONB), (&hint, Type::TEXT)];
    context.outcome(sql, &more).await
}

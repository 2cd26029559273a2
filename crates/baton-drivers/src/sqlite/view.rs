//! The rules of the published view.

use std::sync::Arc;

use baton_core::ids::Epoch;
use baton_core::protocol::{Outcome, View, ViewVersion};
use rusqlite::OptionalExtension;

use super::columns::{Bits, Json};
use super::context::CallContext;
use crate::driver::DriverError;

/// Publishes a view, unless a later epoch is known or this term has published a later one.
pub(super) fn publish(
    context: &CallContext<'_>,
    fence: Epoch,
    view: &View,
) -> Result<Outcome, DriverError> {
    let space = context.space_or_begin()?;
    let older = version(context)?
        .is_some_and(|known| known.epoch == view.version.epoch && known >= view.version);
    if older || context.is_fenced_off(space, fence)? {
        return Ok(Outcome::Conflict);
    }
    let sql = "INSERT INTO baton_views (namespace, epoch, number, body) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT (namespace) DO UPDATE SET epoch = ?2, number = ?3, body = ?4";
    let ViewVersion { epoch, number } = view.version;
    let values = (context.namespace.as_str(), Bits(epoch.0), Bits(number), Json(view));
    context.conn.prepare_cached(sql)?.execute(values)?;
    context.raise_fence(fence)?;
    Ok(Outcome::Applied)
}

/// The published view, if it is newer than this one.
pub(super) fn newer_than(
    context: &CallContext<'_>,
    known: ViewVersion,
) -> Result<Option<Arc<View>>, DriverError> {
    match version(context)? {
        Some(published) if published > known => read(context),
        _ => Ok(None),
    }
}

fn version(context: &CallContext<'_>) -> Result<Option<ViewVersion>, DriverError> {
    let sql = "SELECT epoch, number FROM baton_views WHERE namespace = ?1";
    let mut statement = context.conn.prepare_cached(sql)?;
    let found = statement.query_row([context.namespace.as_str()], |row| {
        let (epoch, number): (Bits, Bits) = (row.get(0)?, row.get(1)?);
        Ok(ViewVersion { epoch: Epoch(epoch.0), number: number.0 })
    });
    found.optional().map_err(context.spoilt("the view"))
}

/// The published view.
pub(super) fn read(context: &CallContext<'_>) -> Result<Option<Arc<View>>, DriverError> {
    let sql = "SELECT body FROM baton_views WHERE namespace = ?1";
    let mut statement = context.conn.prepare_cached(sql)?;
    let body = statement.query_row([context.namespace.as_str()], |row| row.get::<_, Json<View>>(0));
    let body = body.optional().map_err(context.spoilt("the view"))?;
    Ok(body.map(|view| Arc::new(view.0)))
}

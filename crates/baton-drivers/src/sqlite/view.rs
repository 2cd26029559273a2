//! The rules of the published view.

use std::sync::Arc;

use baton_core::ids::Epoch;
use baton_core::protocol::{Outcome, View, ViewVersion};
use rusqlite::OptionalExtension;

use super::columns::{Bits, Json};
use super::error::Fault;
use super::step::Step;

/// Publishes a view, unless a later epoch is known or this term has published a later one.
pub(super) fn publish(step: &Step<'_>, fence: Epoch, view: &View) -> Result<Outcome, Fault> {
    let space = step.space_or_begin()?;
    let older = version(step)?
        .is_some_and(|known| known.epoch == view.version.epoch && known >= view.version);
    if older || step.is_fenced_off(space, fence)? {
        return Ok(Outcome::Conflict);
    }
    let sql = "INSERT INTO baton_views (namespace, epoch, number, body) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT (namespace) DO UPDATE SET epoch = ?2, number = ?3, body = ?4";
    let ViewVersion { epoch, number } = view.version;
    let values = (step.namespace.as_str(), Bits(epoch.0), Bits(number), Json(view));
    step.conn.prepare_cached(sql)?.execute(values)?;
    step.raise_fence(fence)?;
    Ok(Outcome::Applied)
}

/// The published view, if it is newer than this one.
pub(super) fn newer_than(step: &Step<'_>, known: ViewVersion) -> Result<Option<Arc<View>>, Fault> {
    match version(step)? {
        Some(published) if published > known => read(step),
        _ => Ok(None),
    }
}

fn version(step: &Step<'_>) -> Result<Option<ViewVersion>, Fault> {
    let sql = "SELECT epoch, number FROM baton_views WHERE namespace = ?1";
    let mut statement = step.conn.prepare_cached(sql)?;
    let found = statement.query_row([step.namespace.as_str()], |row| {
        let (epoch, number): (Bits, Bits) = (row.get(0)?, row.get(1)?);
        Ok(ViewVersion { epoch: Epoch(epoch.0), number: number.0 })
    });
    found.optional().map_err(|error| spoilt(step, error))
}

/// The published view.
pub(super) fn read(step: &Step<'_>) -> Result<Option<Arc<View>>, Fault> {
    let sql = "SELECT body FROM baton_views WHERE namespace = ?1";
    let mut statement = step.conn.prepare_cached(sql)?;
    let body = statement.query_row([step.namespace.as_str()], |row| row.get::<_, Json<View>>(0));
    let body = body.optional().map_err(|error| spoilt(step, error))?;
    Ok(body.map(|view| Arc::new(view.0)))
}

fn spoilt(step: &Step<'_>, error: rusqlite::Error) -> Fault {
    Fault::reading(|| format!("the view of namespace {}", step.namespace), error)
}

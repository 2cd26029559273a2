//! One beat: the node record, the lease, and the view if it moved.

use baton_core::protocol::{BeatReply, BeatRequest, LeaseIntent, Registration};

use super::context::CallContext;
use super::lease;
use super::lease_row::LeaseRow;
use super::{registry, view};
use crate::driver::DriverError;

/// Carries a beat out, whole or not at all.
pub(super) fn beat(
    context: &CallContext<'_>,
    beat: &BeatRequest,
) -> Result<BeatReply, DriverError> {
    let space = context.space_or_begin()?;
    let mut lease = LeaseRow::read(context)?;
    let registration = registry::register(context, &beat.node, beat.replaces)?;
    let outcome = match (&registration, &beat.lease) {
        (Registration::TakenBy { .. }, _) | (_, LeaseIntent::Observe) => None,
        (_, LeaseIntent::Acquire(acquire)) => {
            Some(lease::acquire(context, space, &mut lease, &beat.node, acquire)?)
        }
        (_, LeaseIntent::Renew(renew)) => Some(lease::renew(context, &mut lease, renew)?),
    };
    Ok(BeatReply {
        registration,
        lease: lease.as_ref().map(|row| row.snapshot(context)),
        outcome,
        lineage: context.lineage,
        view: view::newer_than(context, beat.known_view)?,
    })
}

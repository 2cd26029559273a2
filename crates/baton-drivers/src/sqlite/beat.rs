//! One beat: the node record, the lease, and the view if it moved.

use baton_core::protocol::{BeatReply, BeatRequest, LeaseIntent, Registration};

use super::error::Fault;
use super::lease;
use super::lease_row::LeaseRow;
use super::step::Step;
use super::{registry, view};

/// Carries a beat out, whole or not at all.
pub(super) fn beat(step: &Step<'_>, beat: &BeatRequest) -> Result<BeatReply, Fault> {
    let space = step.space_or_begin()?;
    let mut lease = LeaseRow::read(step)?;
    let registration = registry::register(step, &beat.node, beat.replaces)?;
    let outcome = match (&registration, &beat.lease) {
        (Registration::TakenBy { .. }, _) | (_, LeaseIntent::Observe) => None,
        (_, LeaseIntent::Acquire(acquire)) => {
            Some(lease::acquire(step, space, &mut lease, &beat.node, acquire)?)
        }
        (_, LeaseIntent::Renew(renew)) => Some(lease::renew(step, &mut lease, renew)?),
    };
    Ok(BeatReply {
        registration,
        lease: lease.map(|row| row.snapshot(step)),
        outcome,
        lineage: step.lineage,
        view: view::newer_than(step, beat.known_view)?,
    })
}

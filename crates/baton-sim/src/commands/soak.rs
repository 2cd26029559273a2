//! Fresh seeds for as long as told.

use std::time::Duration;

use crate::campaign::{canary_dies, run_seeds};
use crate::stopwatch::Stopwatch;

use super::{CommandError, campaign, cores};

/// Runs until the time is up or promises are broken.
pub fn run(minutes: u64, first: u64) -> Result<(), CommandError> {
    let watch = Stopwatch::default();
    let limit = Duration::from_secs(60 * minutes);
    let enough = |summary: &crate::campaign::Summary| {
        if summary.seeds.is_multiple_of(5_000) {
            let (seeds, broken) = (summary.seeds, summary.violations.len());
            eprintln!("{seeds} seeds, {broken} violations, {:.0?}", watch.elapsed());
        }
        watch.elapsed() >= limit || summary.violations.len() >= 20
    };
    let summary = run_seeds(first, u64::MAX - first, cores(), &enough);
    let canary_caught = (first..first + 20).any(canary_dies);
    campaign::report(&summary, canary_caught, watch.elapsed(), false)
}

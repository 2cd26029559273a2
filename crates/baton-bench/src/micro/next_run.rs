//! How long it takes to find the next run of a schedule: of expressions that have much to skip,
//! from moments spread over 400 years.

use std::hint::black_box;

use baton::BuildError;
use baton::plugins::schedules::resolve;
use baton_core::schedule::{Definition, Recurrence};
use baton_store::clock::{Clock, SystemClock};

use crate::error::BenchError;
use crate::percentiles::us;
use crate::report::{Bar, Report};

const EXPRESSIONS: [(&str, &str); 6] = [
    ("each second", "* * * * * *"),
    ("each night", "30 2 * * *"),
    ("last of the year", "59 59 23 31 12 *"),
    ("29 February", "0 0 29 2 *"),
    ("29 Feb., a Sunday", "0 0 29 2 */7"),
    ("each 1,000 days", "@every 1000d"),
];

/// Local times of this zone change twice a year.
const ZONE: &str = "Europe/Berlin";

/// Moments to search from, and how far they are from each other: 146 days, some hours, minutes and
/// seconds.
const MOMENTS: u64 = 1_000;
const APART_MS: u64 = 12_637_815_000;

/// Searches that are timed together, since one is too short for the clock.
const TOGETHER: u32 = 20;

/// They are timed this often, and the fastest counts: the others were interrupted.
const TIMES: usize = 3;

/// What the longest search may take.
const SEARCH_US: f64 = 1_000.0;

/// Measures every expression.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let (wanted, mut found) = (EXPRESSIONS.len() * MOMENTS as usize, 0);
    for (name, text) in EXPRESSIONS {
        let definition = Definition { tz: ZONE.to_owned(), ..Definition::new("bench", text) };
        let recurrence = resolve(definition).map_err(BuildError::from)?.recurrence;
        let searches: Vec<_> =
            (0..MOMENTS).filter_map(|moment| search(&recurrence, moment * APART_MS)).collect();
        found += searches.len();
        let row = format!("next: {name}");
        report.measured(&row, "us", &searches, &[Bar::max(SEARCH_US)]);
    }
    report.must("next runs found", found == wanted, found.to_string(), wanted.to_string());
    Ok(())
}

/// Microseconds of one search. `None` if no run was found.
fn search(recurrence: &Recurrence, from_ms: u64) -> Option<f64> {
    let from = recurrence.moment(from_ms);
    let time = || {
        let before = SystemClock.now();
        for _ in 0..TOGETHER {
            black_box(recurrence.next_after(black_box(&from)))?;
        }
        Some(us(SystemClock.now().since(before)) / f64::from(TOGETHER))
    };
    (0..TIMES).map(|_| time()).collect::<Option<Vec<_>>>()?.into_iter().reduce(f64::min)
}

//! Calls that never leave the process. Each is too short for a clock: batches are timed.

use std::hint::black_box;

use baton::Node;
use baton_store::clock::{Clock, SystemClock};

use super::namespace;
use crate::error::BenchError;
use crate::fixture::Fixture;
use crate::percentiles::us;
use crate::report::{Bar, Report};
use crate::sandbox::Sandbox;

/// Calls of a batch. The clock counts microseconds and a batch takes some hundred: long enough to
/// be measured, short enough to be rarely interrupted.
const CALLS: u32 = 10_000;

/// Batches that count, after as many that only warm up.
const BATCHES: u32 = 1_000;

/// What asking a node whether it leads may take.
const IS_LEADER_NS: f64 = 60.0;

/// Measures on a node that leads.
pub async fn measure(sandbox: &Sandbox, report: &mut Report) -> Result<(), BenchError> {
    let store = baton_drivers::open(&Fixture::files().url(&sandbox.room("calls")?)).await?;
    let node = Node::builder(store).namespace(namespace());
    let node = node.tune(|settings| settings.skip_cold_start = true).build()?;
    let term = node.leadership().await?;
    let bar = [Bar::median(IS_LEADER_NS)];
    report.measured("Node::is_leader", "ns", &batches(|| node.is_leader()), &bar);
    report.measured("Leadership::is_leader", "ns", &batches(|| term.is_leader()), &[]);
    let led = term.is_leader() && node.is_leader();
    report.must("the node led all along", led, led.to_string(), "true");
    drop(term);
    node.leave().await;
    Ok(())
}

/// Nanoseconds of one call, as each batch has it.
fn batches(call: impl Fn() -> bool) -> Vec<f64> {
    let batch = || {
        let before = SystemClock.now();
        for _ in 0..CALLS {
            black_box(call());
        }
        us(SystemClock.now().since(before)) * 1e3 / f64::from(CALLS)
    };
    (0..2 * BATCHES).map(|_| batch()).skip(BATCHES as usize).collect()
}

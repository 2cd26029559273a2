//! `micro`: what single calls cost, and what waiting costs.
//!
//! ```text
//!   calls:    is_leader, many in a batch, the median of the batches ──┐
//!   next_run: the next slot of expressions that are rarely due ───────┤
//!   requests: beat, inspect, documents, one at a time on a real file ─┼──► report
//!   idle:     fifty processes that wait: their processor time ────────┘
//! ```

mod calls;
mod idle;
mod next_run;
mod requests;

use baton::Namespace;

use crate::cli::Idle;
use crate::error::BenchError;
use crate::report::Report;
use crate::sandbox::Sandbox;

/// Everything.
pub async fn run(sandbox: &Sandbox, bars: bool) -> Result<Report, BenchError> {
    let mut report = Report::new("micro", bars);
    eprintln!("micro: calls");
    calls::measure(sandbox, &mut report).await?;
    next_run::measure(&mut report)?;
    eprintln!("micro: requests");
    requests::measure(sandbox, &mut report).await?;
    idle::measure(sandbox, &Idle { nodes: 50, seconds: 30 }, &mut report).await?;
    Ok(report)
}

/// Idleness alone.
pub async fn idle(sandbox: &Sandbox, options: &Idle, bars: bool) -> Result<Report, BenchError> {
    let mut report = Report::new("idle", bars);
    idle::measure(sandbox, options, &mut report).await?;
    Ok(report)
}

/// The namespace of what is asked from here.
fn namespace() -> Namespace {
    Namespace::new("bench").expect("a plain name")
}

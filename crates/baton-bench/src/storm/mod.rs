//! `storm`: many processes on one file, killed, ended and paused at random.
//!
//! ```text
//!   seed ──► fault: what, whom, for how long ──► weather: strikes, and relieves when it is time
//!                                                   │ time is up: everybody is let go on
//!                                                   ▼
//!                calm: all settled, all stopped ──► checks: the log, the store's history, /proc
//! ```

pub mod checks;
mod fault;
mod weather;

use std::time::Duration;

use baton_cli::cluster::Body;
use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};

use crate::cli::Storm;
use crate::error::BenchError;
use crate::ground::Ground;
use crate::report::Report;
use crate::site::Site;
use crate::spread::ms;
use weather::Weather;

/// A lease of 3 s: many failovers in a short time, those that wait for the lease among them.
const FLAGS: [&str; 2] = ["--profile", "fast"];

/// How often the job writes.
const TICK_EVERY: Duration = Duration::from_millis(10);

/// Lets it storm, then looks at what is left.
pub async fn run(site: &Site, options: &Storm, bars: bool) -> Result<Report, BenchError> {
    let mut report = Report::new("storm", bars);
    let seed = options.seed.map_or_else(fresh_seed, Ok)?;
    let nodes = usize::try_from(options.nodes).unwrap_or(usize::MAX);
    eprintln!("storm: seed {seed}, {nodes} nodes, {} s", options.seconds);
    let (ground, body) = (Ground::files(), Body::run(&FLAGS));
    let mut stage = site.cluster(&ground, "storm", nodes, TICK_EVERY, body).await?;
    stage.settled().await?;
    let lasts = Duration::from_secs(options.seconds.into());
    let mut weather = Weather::new(&mut stage, Rng::new(seed));
    weather.storm(lasts).await?;
    weather.relieve_all().await?;
    let counts = weather.counts();
    let calm_since = SystemClock.now();
    eprintln!("storm: over, waiting for calm");
    stage.settled().await?;
    let settled_in = SystemClock.now().since(calm_since);
    stage.cluster.stop().await?;
    report.note(format!("seed {seed}; {counts}"));
    report.note(format!("settled {:.1} s after the last fault", settled_in.as_secs_f64()));
    counts.tell(&mut report);
    checks::judge(site, &stage, lasts, &mut report).await?;
    let gap = stage.cluster.ticks()?.longest_gap();
    report.note(format!("longest time without a line: {:.0} ms", ms(gap)));
    Ok(report)
}

/// A seed that was not there before.
pub fn fresh_seed() -> Result<u64, BenchError> {
    let drawn = baton::fresh_boot()?.0;
    // Short enough to be typed again.
    Ok(u64::try_from(drawn % 1_000_000).unwrap_or_default())
}

//! What the demo showed, in figures.

use std::time::Duration;

use serde::Serialize;

use super::acts::Outcome;
use crate::cluster::{Kind, Ticks};
use crate::output::style::Tone;
use crate::output::table::{Cell, Lean, Table};

/// The figures, from the jobs' own log.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// How long the lease was, in milliseconds.
    pub lease_ms: u64,
    /// Each act.
    pub failovers: Vec<Outcome>,
    /// Ticks run.
    pub ticks: usize,
    /// Ticks run twice.
    pub ticks_run_twice: usize,
    /// Lines of a job whose term was over.
    pub overlaps: usize,
    /// The longest time without a tick, in milliseconds.
    pub longest_gap_ms: f64,
}

impl Summary {
    pub(super) fn new(failovers: Vec<Outcome>, ticks: &Ticks, lease: Duration) -> Self {
        Self {
            lease_ms: baton_core::time::whole_ms(lease),
            failovers,
            ticks: ticks.all().iter().filter(|tick| tick.kind == Kind::Tick).count(),
            ticks_run_twice: ticks.doubles().len(),
            overlaps: ticks.overlaps().len(),
            longest_gap_ms: ticks.longest_gap().as_secs_f64() * 1e3,
        }
    }

    /// Did everything go as it must?
    pub fn is_good(&self) -> bool {
        self.ticks > 0 && self.ticks_run_twice == 0 && self.overlaps == 0
    }

    /// The figures for a person.
    pub fn render(&self, width: Option<usize>) -> String {
        let mut table = Table::new(&[
            ("WHAT", Lean::Left),
            ("FROM", Lean::Left),
            ("TO", Lean::Left),
            ("EPOCH", Lean::Right),
            ("FAILOVER", Lean::Right),
        ]);
        for outcome in &self.failovers {
            let took = match outcome.failover_ms {
                ms if ms < 1_000.0 => format!("{ms:.1} ms"),
                ms => format!("{:.1} s", ms / 1e3),
            };
            table.row([
                Cell::from(outcome.act.name()),
                outcome.from.to_string().into(),
                outcome.to.to_string().into(),
                outcome.epoch.to_string().into(),
                Cell::new(took, Tone::Good),
            ]);
        }
        let Self { ticks, ticks_run_twice: twice, overlaps, longest_gap_ms: gap, .. } = self;
        let tone = if self.is_good() { Tone::Good } else { Tone::Bad };
        let verdict = format!("{twice} run twice, {overlaps} by a job whose term was over");
        let lease = self.lease_ms as f64 / 1e3;
        format!(
            "{}\n{ticks} ticks: {}\nlongest gap {:.1} s, under a lease of {lease} s\n",
            table.render(width),
            tone.paint(&verdict),
            gap / 1e3,
        )
    }
}

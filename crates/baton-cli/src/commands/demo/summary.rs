//! What the demo showed, in figures.

use std::time::Duration;

use serde::Serialize;

use super::acts::Outcome;
use crate::cluster::{TickKind, Ticks};
use crate::output::style::Tone;
use crate::output::table::{Cell, Table};

/// A failover time with its unit.
pub(super) fn show_failover(ms: f64) -> String {
    match ms {
        ms if ms < 1_000.0 => format!("{ms:.1} ms"),
        ms => format!("{:.1} s", ms / 1e3),
    }
}

/// What a demo showed: the figures, for programs and for people.
pub trait Figures: Serialize {
    /// Did everything hold that baton promises?
    fn is_good(&self) -> bool;

    /// The figures as text.
    fn render(&self, width: Option<usize>) -> String;
}

/// The figures, from the jobs' own log.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub lease_ms: u64,
    pub failovers: Vec<Outcome>,
    pub ticks: usize,
    pub ticks_run_twice: usize,
    pub overlaps: usize,
    /// Longest time without a tick.
    pub longest_gap_ms: f64,
}

impl Summary {
    pub(super) fn new(failovers: Vec<Outcome>, ticks: &Ticks, lease: Duration) -> Self {
        Self {
            lease_ms: baton_core::time::whole_ms(lease),
            failovers,
            ticks: ticks.all().iter().filter(|tick| tick.kind == TickKind::Tick).count(),
            ticks_run_twice: ticks.doubles().len(),
            overlaps: ticks.overlaps().len(),
            longest_gap_ms: ticks.longest_gap().as_secs_f64() * 1e3,
        }
    }
}

impl Figures for Summary {
    /// Whether no tick was run twice or by a job whose term was over.
    fn is_good(&self) -> bool {
        self.ticks > 0 && self.ticks_run_twice == 0 && self.overlaps == 0
    }

    fn render(&self, width: Option<usize>) -> String {
        let mut table = Table::new(&["WHAT", "FROM", "TO", ">EPOCH", ">FAILOVER"]);
        for outcome in &self.failovers {
            table.row([
                Cell::from(outcome.act.name()),
                outcome.from.to_string().into(),
                outcome.to.to_string().into(),
                outcome.epoch.to_string().into(),
                Cell::new(show_failover(outcome.failover_ms), Tone::Good),
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

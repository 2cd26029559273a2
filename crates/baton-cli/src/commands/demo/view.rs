//! One frame of the live view: who leads, how long yet, what happened last.

use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;

use super::acts::Act;
use super::journal::Entry;
use crate::cluster::{LeaderLease, TickKind, Ticks};
use crate::output::style::Tone;
use crate::output::table::{Cell, Table, cut};

/// Number of past entries in the view.
const ENTRIES: usize = 9;

/// Width of the bar that shows the lease.
const BAR: usize = 30;

/// What a frame shows.
pub struct Scene<'a> {
    pub elapsed: Duration,
    pub began: Moment,
    pub lease: Duration,
    pub lead: Option<&'a LeaderLease>,
    pub nodes: Vec<(NodeId, u32)>,
    pub paused: Option<&'a NodeId>,
    pub ticks: &'a Ticks,
    pub entries: &'a [Entry<Act>],
    pub width: usize,
}

/// The frame as text.
pub fn render(scene: &Scene<'_>) -> String {
    let title = "baton demo: three nodes, one file, a job that only the leader runs";
    let mut text = heading(title, scene.elapsed, scene.width);
    text.push_str(&nodes(scene));
    text.push_str(&format!("\n{}\n\n", lease(scene)));
    text.push_str(&last_entries(scene.entries, scene.began, scene.width));
    text
}

/// The title, and how long the demo has run.
pub fn heading(title: &str, elapsed: Duration, width: usize) -> String {
    let seconds = format!("{:.0} s", elapsed.as_secs_f64());
    let title = cut(title, width.saturating_sub(seconds.len() + 2));
    let gap = width.saturating_sub(title.chars().count() + seconds.len());
    format!("{}{}{seconds}\n\n", Tone::Head.paint(&title), " ".repeat(gap))
}

/// The last entries, a line each.
pub fn last_entries<A>(entries: &[Entry<A>], began: Moment, width: usize) -> String {
    let first = entries.len().saturating_sub(ENTRIES);
    let lines = entries[first..].iter().map(|entry| {
        let at = entry.at.since(began).as_secs_f64();
        let line = cut(&format!("{at:5.1} s  {}", entry.text), width);
        let tone = if entry.act.is_some() { Tone::Warn } else { Tone::Plain };
        format!("{}\n", tone.paint(&line))
    });
    lines.collect()
}

fn nodes(scene: &Scene<'_>) -> String {
    let mut table = Table::new(&["NODE", "STATE", ">PROCESS", ">TICKS"]);
    for (node, pid) in &scene.nodes {
        let leads = scene.lead.is_some_and(|lead| lead.node == *node);
        let (state, tone) = match (scene.paused == Some(node), leads) {
            (true, true) => ("paused, holds the lease", Tone::Warn),
            (true, false) => ("paused", Tone::Warn),
            (false, true) => ("leads", Tone::Good),
            (false, false) => ("standby", Tone::Faint),
        };
        let done = |tick: &&crate::cluster::Tick| {
            tick.kind == TickKind::Tick && tick.node == node.as_str()
        };
        let ticks = scene.ticks.all().iter().filter(done).count();
        let cells = [Cell::from(node.to_string()), Cell::new(state, tone)];
        table.row(cells.into_iter().chain([pid.to_string().into(), ticks.to_string().into()]));
    }
    table.render(Some(scene.width))
}

fn lease(scene: &Scene<'_>) -> String {
    let Some(lead) = scene.lead else { return "no node leads".to_owned() };
    let left = lead.lease.expiry.left().unwrap_or_default();
    let share = left.as_secs_f64() / scene.lease.as_secs_f64().max(f64::MIN_POSITIVE);
    let full = ((share * BAR as f64).round() as usize).min(BAR);
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(BAR - full));
    let (epoch, whole) = (lead.lease.version.epoch, scene.lease.as_secs_f64());
    let tone = if share < 0.35 { Tone::Warn } else { Tone::Good };
    let left = left.as_secs_f64();
    format!("epoch {epoch}  lease {}  {left:4.1} s left of {whole:.0} s", tone.paint(&bar))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_fits_eighty_columns_and_says_who_leads() {
        let began = Moment::from_micros(0);
        let node = NodeId::new("alice").expect("valid");
        let text = "a long entry that goes on and on ".repeat(5);
        let entries = vec![Entry { at: began, until: None, act: None, text }; 20];
        let scene = Scene {
            elapsed: Duration::from_secs(12),
            began,
            lease: Duration::from_secs(15),
            lead: None,
            nodes: vec![(node.clone(), 4_194_304)],
            paused: Some(&node),
            ticks: &Ticks::default(),
            entries: &entries,
            width: 80,
        };
        let text = anstream::adapter::strip_str(&render(&scene)).to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("no node leads") && text.contains("alice  paused"), "{text}");
        assert!(text.lines().count() <= 23, "it fits a small terminal:\n{text}");
    }
}

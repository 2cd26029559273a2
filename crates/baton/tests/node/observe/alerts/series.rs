//! What the scrapes of one node show over a scenario, as series in promtool's notation.

use serde::Serialize;

/// What one scrape of a node shows, as far as the alerts look. Counters are what came new with it.
#[derive(Clone, Copy)]
pub struct Figures {
    pub leads: bool,
    pub ready: bool,
    pub breaker: u32,
    pub to_deadline: u32,
    pub overrun: u32,
    pub changes: u32,
    pub answered: u32,
    pub unanswered: u32,
    pub rejected: u32,
    pub went_back: u32,
    pub overran: u32,
    pub ignored: u32,
    pub failed_runs: u32,
    pub missed_runs: u32,
    pub late_slots: u32,
    pub overlapped_slots: u32,
    pub failed_schedule_runs: u32,
    pub unowned: u32,
}

/// A node that follows, and all is well.
pub const FOLLOWS: Figures = Figures {
    leads: false,
    ready: true,
    breaker: 0,
    to_deadline: 0,
    overrun: 0,
    changes: 0,
    answered: 3,
    unanswered: 0,
    rejected: 0,
    went_back: 0,
    overran: 0,
    ignored: 0,
    failed_runs: 0,
    missed_runs: 0,
    late_slots: 0,
    overlapped_slots: 0,
    failed_schedule_runs: 0,
    unowned: 0,
};

/// A node that leads, and all is well.
pub const LEADS: Figures = Figures { leads: true, to_deadline: 12, answered: 5, ..FOLLOWS };

/// What becomes of one scrape.
#[derive(Clone, Copy)]
pub enum Scrape {
    /// The node answers.
    Shows(Figures),
    /// The process stands still: no answer, and its counters go on later.
    Paused,
    /// There is no process: no answer, and the next one counts from 0.
    Dead,
}

/// The same for this many scrapes.
pub fn shows(count: usize, figures: Figures) -> Vec<Scrape> {
    vec![Scrape::Shows(figures); count]
}

/// How a metric is read off what a scrape shows.
type Read = fn(&Figures) -> u32;

/// Gauges, by name.
const GAUGES: [(&str, Read); 7] = [
    ("baton_leader", |it| u32::from(it.leads)),
    ("baton_ready", |it| u32::from(it.ready)),
    ("baton_breaker_state", |it| it.breaker),
    ("baton_time_to_deadline_seconds", |it| it.to_deadline),
    ("baton_lease_timeout_seconds", |_| 15),
    ("baton_overrun_seconds", |it| it.overrun),
    ("baton_partitions_unowned", |it| it.unowned),
];

/// Counters, by name and label.
const COUNTERS: [(&str, &str, Read); 14] = [
    ("baton_leader_changes_total", "", |it| it.changes),
    ("baton_store_operations_total", r#"outcome="ok""#, |it| it.answered),
    ("baton_store_operations_total", r#"outcome="unavailable""#, |it| it.unanswered),
    ("baton_events_total", r#"event="store:rejected""#, |it| it.rejected),
    ("baton_events_total", r#"event="store:went-back""#, |it| it.went_back),
    ("baton_events_total", r#"event="term:overran""#, |it| it.overran),
    ("baton_events_total", r#"event="plugin:ignored-cancellation""#, |it| it.ignored),
    ("baton_plugin_runs_total", r#"plugin="job",outcome="ok""#, |_| 1),
    ("baton_plugin_runs_total", r#"plugin="job",outcome="failed""#, |it| it.failed_runs),
    ("baton_plugin_missed_runs_total", r#"plugin="job""#, |it| it.missed_runs),
    ("baton_schedule_missed_total", r#"schedule="report",reason="late""#, |it| it.late_slots),
    ("baton_schedule_missed_total", r#"schedule="report",reason="overlap""#, |it| {
        it.overlapped_slots
    }),
    ("baton_schedule_runs_total", r#"schedule="report",outcome="failed""#, |it| {
        it.failed_schedule_runs
    }),
    ("baton_schedule_runs_total", r#"schedule="report",outcome="done""#, |it| u32::from(it.leads)),
];

/// The metrics that a scenario has.
pub fn metrics() -> impl Iterator<Item = &'static str> {
    GAUGES.iter().map(|gauge| gauge.0).chain(COUNTERS.iter().map(|counter| counter.0))
}

/// One series in promtool's notation: its name with labels, and a value for each scrape.
#[derive(Serialize)]
pub struct Series {
    series: String,
    values: String,
}

/// Every series of the node.
pub fn series(namespace: &str, node: &str, scrapes: &[Scrape]) -> Vec<Series> {
    let one = |name: &str, label: &str, values: Vec<String>| {
        let labels = format!(r#"namespace="{namespace}",node="{node}",{label}"#);
        let labels = labels.trim_end_matches(',');
        Series { series: format!("{name}{{{labels}}}"), values: values.join(" ") }
    };
    let gauges = GAUGES.iter().map(|(name, read)| {
        let values = scrapes.iter().map(|scrape| match scrape {
            Scrape::Shows(figures) => read(figures).to_string(),
            Scrape::Paused | Scrape::Dead => "stale".to_owned(),
        });
        one(name, "", values.collect())
    });
    let counters = COUNTERS.iter().map(|(name, label, read)| {
        let mut sum = 0;
        let values = scrapes.iter().map(|scrape| match scrape {
            Scrape::Shows(figures) => {
                sum += read(figures);
                sum.to_string()
            }
            Scrape::Paused => "stale".to_owned(),
            Scrape::Dead => {
                sum = 0;
                "stale".to_owned()
            }
        });
        one(name, label, values.collect())
    });
    gauges.chain(counters).collect()
}

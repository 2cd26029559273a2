//! The figures as tables, and what is judged of them.

use super::LAG_P99_MS;
use super::cluster::BEAT_EVERY;
use super::measure::Measured;
use crate::cli::Cron;
use crate::percentiles::Percentiles;
use crate::report::{Report, TextTable, number};

/// Beats with schedules may take this many times as long as without.
const BEAT_RATIO_MAX: f64 = 1.2;

/// A difference of this many milliseconds is none: a percentile of some hundred beats moves by as
/// much from run to run.
const BEAT_FLOOR_MS: f64 = 0.5;

const RUNS: [&str; 8] =
    ["STORE", "SCHEDULES", "FIRES", "MISSED", "DOUBLED", "LAG P50 ms", "P99 ms", "MAX ms"];
const COSTS: [&str; 6] =
    ["STORE", "SCHEDULES", "COUNTED/FIRE", "CALLS/FIRE", "BYTES/FIRE", "PAGE BYTES"];
const BEATS: [&str; 7] =
    ["STORE", "SCHEDULES", "P50 ms", "P50 WITH", "P99 ms", "P99 WITH", "RATIO"];

/// Adds tables, checks and remarks.
pub fn add_to_report(all: &[Measured], bars: bool, options: &Cron, report: &mut Report) {
    let lasts = options.seconds;
    let mut runs = TextTable::new(format!("schedules of every second, for {lasts} s"), &RUNS);
    let mut costs = TextTable::new("requests and bytes for each fire", &COSTS);
    let every = BEAT_EVERY.as_millis();
    let title = format!("beats of the leader, every {every} ms, without schedules and with them");
    let mut beats = TextTable::new(title, &BEATS);
    for measured in all {
        runs.row(run_cells(measured));
        if let Some((without, with)) = measured.beats {
            costs.row(cost_cells(measured));
            beats.row(beat_cells(measured, without, with));
        }
        judge(measured, bars, report);
    }
    report.table(runs);
    report.table(costs);
    report.table(beats);
    note_carried(all, report);
    report.note(format!(
        "beats: {BEAT_FLOOR_MS} ms of p99 more count as none. COUNTED: by the server, less what it \
         counts\nwithout schedules. CALLS: reads and writes of pages, by the leader"
    ));
    if all.iter().any(|it| it.beats.is_none()) {
        report.note(
            "lock a fire: three replicas have all schedules; the one that gets the advisory lock \
             runs, and\nunlocks. Doubled: a replica asked when another had run and unlocked"
                .to_owned(),
        );
    }
    if options.one_handle {
        report.note("pages and beats shared one store handle".to_owned());
    }
}

fn names(measured: &Measured) -> [String; 2] {
    [measured.store.clone(), measured.schedules.to_string()]
}

fn run_cells(measured: &Measured) -> Vec<String> {
    let fires = &measured.fires;
    let counts = [fires.fires, fires.missed, fires.doubled].map(|count| count.to_string());
    let lag = |of: fn(Percentiles) -> f64| fires.lag.map_or("-".to_owned(), |lag| number(of(lag)));
    let lags = [lag(|it| it.median), lag(|it| it.p99), lag(|it| it.max)];
    names(measured).into_iter().chain(counts).chain(lags).collect()
}

fn cost_cells(measured: &Measured) -> Vec<String> {
    let (pages, fires) = (measured.pages, measured.fires.fires.max(1) as f64);
    let counted = measured.counted.map_or("-".to_owned(), |count| number(count / fires));
    let calls = number(pages.calls as f64 / fires);
    let bytes = format!("{:.0}", pages.bytes as f64 / fires);
    let page = format!("{:.0}", pages.bytes as f64 / pages.writes.max(1) as f64);
    names(measured).into_iter().chain([counted, calls, bytes, page]).collect()
}

fn beat_cells(measured: &Measured, without: Percentiles, with: Percentiles) -> Vec<String> {
    let times = [without.median, with.median, without.p99, with.p99].map(number);
    let ratio = format!("{:.2}", with.p99 / without.p99);
    names(measured).into_iter().chain(times).chain([ratio]).collect()
}

fn judge(measured: &Measured, bars: bool, report: &mut Report) {
    let Measured { store, schedules, fires, is_judged, .. } = measured;
    let Some((without, with)) = measured.beats else { return };
    let name = format!("{store}, {schedules}:");
    report.must_be_none(&format!("{name} slots doubled"), fires.doubled);
    if !is_judged {
        return;
    }
    report.must_be_none(&format!("{name} slots missed"), fires.missed);
    report.must(&format!("{name} terms"), fires.terms == 1, fires.terms.to_string(), "1");
    if !bars {
        return;
    }
    let p99 = fires.lag.map_or(f64::INFINITY, |lag| lag.p99);
    let wanted = format!("{LAG_P99_MS} ms at most");
    let found = format!("{} ms", number(p99));
    report.must(&format!("{name} lag, p99"), p99 <= LAG_P99_MS, found, wanted);
    let found = format!("{} to {} ms", number(without.p99), number(with.p99));
    let holds = is_unchanged(without.p99, with.p99);
    let wanted = format!("{BEAT_RATIO_MAX} times at most");
    report.must(&format!("{name} beats, p99"), holds, found, wanted);
}

fn is_unchanged(without_ms: f64, with_ms: f64) -> bool {
    with_ms <= BEAT_RATIO_MAX * without_ms || with_ms - without_ms <= BEAT_FLOOR_MS
}

/// How many schedules the stores carry that are not judged.
fn note_carried(all: &[Measured], report: &mut Report) {
    let mut stores: Vec<&str> = Vec::new();
    for measured in all.iter().filter(|it| !it.is_judged && it.beats.is_some()) {
        if !stores.contains(&measured.store.as_str()) {
            stores.push(&measured.store);
        }
    }
    for store in stores {
        let tried = all.iter().filter(|it| it.store == store);
        let most = tried.filter(|it| it.fires.is_carried()).map(|it| it.schedules).max();
        let most = most.map_or("none of the numbers tried".to_owned(), |most| most.to_string());
        report.note(format!("{store} carries {most} of every second"));
    }
}

#[cfg(test)]
mod tests {
    use super::is_unchanged;

    #[test]
    fn beats_are_unchanged_by_ratio_or_by_a_small_difference() {
        assert!(is_unchanged(10.0, 12.0) && !is_unchanged(10.0, 12.1));
        assert!(is_unchanged(1.0, 1.5) && !is_unchanged(1.0, 1.6));
    }
}

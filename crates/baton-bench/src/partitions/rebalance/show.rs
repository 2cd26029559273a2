//! The figures as tables, and what is judged of them.

use super::measure::{EventFigures, Measured, MoveEvent, RestFigures};
use crate::fixture::StoreKind;
use crate::partitions::check::add_to_report;
use crate::partitions::options::Rebalance;
use crate::percentiles::Percentiles;
use crate::report::{Report, TextTable, number};

/// Until all is owned after a kill that is proved, in milliseconds.
const KILLED_MS: f64 = 2_000.0;

/// Until all is owned after a drain, in milliseconds.
const DRAINED_MS: f64 = 1_000.0;

/// 99 of 100 partitions of a drained node have no owner for no longer than this.
const GAP_P99_MS: f64 = 200.0;

/// Requests at rest besides beats: the leader looks at the task lists once a minute, and each of
/// the two windows may have one of its readings of the records more or less.
const BESIDES_MORE: u64 = 3;

/// Beats vary in time, and a window may have one of each node more or less.
const BEATS_MORE: f64 = 1.05;

const EVENTS: [&str; 8] =
    ["STORE, EVENT", "OWNED ms", "GAP P50", "P99", "MAX", "MOVES", "LEAST", "DOUBLED"];
const COSTS: [&str; 7] =
    ["STORE, EVENT", "DOCUMENTS", "WRITES", "VIEWS", "READS", "ALL CALLS", "COUNTED"];
const RESTS: [&str; 5] = ["STORE", "CALLS/s WITHOUT", "WITH", "COUNTED/s WITHOUT", "WITH"];

/// Adds tables, checks and remarks.
pub fn report_all(
    all: &[(StoreKind, Measured)],
    options: &Rebalance,
    bars: bool,
    report: &mut Report,
) {
    let partitions = options.lists * options.partitions;
    let (nodes, lists, profile) = (options.nodes, options.lists, options.profile);
    let title =
        format!("{partitions} partitions in {lists} lists on {nodes} nodes, profile {profile}");
    let mut events = TextTable::new(title, &EVENTS);
    let mut costs = TextTable::new("what each event cost the store, beats included", &COSTS);
    let mut rests = TextTable::new("requests at rest, without partitions and with them", &RESTS);
    for (kind, measured) in all {
        for figures in &measured.events {
            events.row(event_cells(*kind, figures, measured.findings.doubled.len()));
            costs.row(cost_cells(*kind, figures));
        }
        rests.row(rest_cells(*kind, measured));
        add_to_report(&measured.findings, kind.name(), report);
        judge(*kind, measured, bars && options.profile == baton::Profile::Fast, report);
        report.note(format!(
            "{kind}: all partitions were placed {} s after the first process was started",
            number(measured.placed_ms / 1e3)
        ));
    }
    report.table(events);
    report.table(costs);
    report.table(rests);
    report.note(
        "OWNED: from the event to the start of the last partition that moved. GAP: from the end of \
         one\nowner's work to the start of the next one's. COUNTED: by the server itself. DOUBLED: \
         of all events"
            .to_owned(),
    );
}

fn event_cells(kind: StoreKind, figures: &EventFigures, doubled: usize) -> Vec<String> {
    let gap = |of: fn(Percentiles) -> f64| {
        figures.gaps_ms.map_or("-".to_owned(), |gaps| number(of(gaps)))
    };
    vec![
        format!("{kind}, {}", figures.event.name()),
        number(figures.owned_ms),
        gap(|it| it.median),
        gap(|it| it.p99),
        gap(|it| it.max),
        figures.moves.to_string(),
        figures.least.to_string(),
        doubled.to_string(),
    ]
}

fn cost_cells(kind: StoreKind, figures: &EventFigures) -> Vec<String> {
    let calls = &figures.calls;
    let counts = [
        calls.documents,
        calls.document_writes,
        calls.views,
        calls.document_reads + calls.members,
        calls.all,
    ];
    let counted = figures.counted.map_or("-".to_owned(), |count| count.to_string());
    let name = format!("{kind}, {}", figures.event.name());
    let counts = counts.map(|count| count.to_string());
    [name].into_iter().chain(counts).chain([counted]).collect()
}

fn rest_cells(kind: StoreKind, measured: &Measured) -> Vec<String> {
    let (without, with) = (measured.without, measured.with);
    let counted = |rest: RestFigures| rest.counted.map_or("-".to_owned(), number);
    let calls = [number(without.calls), number(with.calls)];
    let name = kind.name().to_owned();
    [name].into_iter().chain(calls).chain([counted(without), counted(with)]).collect()
}

fn judge(kind: StoreKind, measured: &Measured, bars: bool, report: &mut Report) {
    let (without, with) = (measured.without, measured.with);
    let most = without.besides + BESIDES_MORE;
    let (found, wanted) = (with.besides.to_string(), format!("{most} at most"));
    let name = format!("{kind}: requests at rest, no beats");
    report.must(&name, with.besides <= most, found, wanted);
    let most = without.beats * BEATS_MORE;
    let (found, wanted) = (number(with.beats), format!("{} at most", number(most)));
    report.must(&format!("{kind}: beats at rest, each second"), with.beats <= most, found, wanted);
    for figures in &measured.events {
        let name = format!("{kind}, {}", figures.event.name());
        let (moves, least) = (figures.moves, figures.least);
        let wanted = least.to_string();
        report.must(&format!("{name}: moves"), moves == least, moves.to_string(), wanted);
        if bars && has_bars(kind) {
            judge_times(&name, figures, report);
        }
    }
}

fn judge_times(name: &str, figures: &EventFigures, report: &mut Report) {
    let most = match figures.event {
        MoveEvent::Killed => KILLED_MS,
        MoveEvent::Drained => DRAINED_MS,
        _ => return,
    };
    let found = format!("{} ms", number(figures.owned_ms));
    let holds = figures.owned_ms <= most;
    report.must(&format!("{name}: owned again"), holds, found, format!("{most} ms at most"));
    if figures.event == MoveEvent::Drained {
        let p99 = figures.gaps_ms.map_or(f64::INFINITY, |gaps| gaps.p99);
        let (found, wanted) = (format!("{} ms", number(p99)), format!("{GAP_P99_MS} ms at most"));
        report.must(&format!("{name}: gap, p99"), p99 <= GAP_P99_MS, found, wanted);
    }
}

/// Stores with round trips of about a millisecond.
fn has_bars(kind: StoreKind) -> bool {
    !matches!(kind, StoreKind::Etcd | StoreKind::S3)
}

#[cfg(test)]
mod tests {
    use baton_cli::cluster::owners::Findings;

    use super::*;
    use crate::partitions::owner::CallTotals;

    fn rest(beats: f64, besides: u64) -> RestFigures {
        RestFigures { calls: beats, beats, besides, counted: None }
    }

    fn judged(event: MoveEvent, owned_ms: f64, gap_ms: f64, moves: usize) -> bool {
        judged_at_rest(event, owned_ms, gap_ms, moves, rest(40.4, 13))
    }

    fn judged_at_rest(
        event: MoveEvent,
        owned_ms: f64,
        gap_ms: f64,
        moves: usize,
        with: RestFigures,
    ) -> bool {
        let figures = EventFigures {
            event,
            owned_ms,
            gaps_ms: Percentiles::of(&[gap_ms]),
            moves,
            least: 60,
            calls: CallTotals::default(),
            counted: None,
        };
        let measured = Measured {
            without: rest(40.0, 10),
            with,
            placed_ms: 0.0,
            events: vec![figures],
            findings: Findings::default(),
        };
        let mut report = Report::new("test", true);
        judge(StoreKind::Redis, &measured, true, &mut report);
        report.passes()
    }

    #[test]
    fn each_bar_can_be_missed() {
        assert!(judged(MoveEvent::Killed, 1_999.0, 900.0, 60));
        assert!(!judged(MoveEvent::Killed, 2_001.0, 900.0, 60));
        assert!(judged(MoveEvent::Drained, 999.0, 199.0, 60));
        assert!(!judged(MoveEvent::Drained, 1_001.0, 199.0, 60));
        assert!(!judged(MoveEvent::Drained, 999.0, 201.0, 60));
        assert!(!judged(MoveEvent::Joined, 1.0, 1.0, 61));
        for with in [rest(40.4, 14), rest(42.1, 13)] {
            assert!(!judged_at_rest(MoveEvent::Joined, 1.0, 1.0, 60, with));
        }
    }
}

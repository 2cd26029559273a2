//! The figures as tables, and what is judged of them.

use super::Contest;
use super::contender::{Measured, Step};
use super::fleet::Fleet;
use super::sticky;
use crate::percentiles::ms;
use crate::report::{Bar, Report, TextTable, number};

/// What the calls may take: partitions, then milliseconds from scratch and when a node leaves.
const BARS: [(u32, f64, Option<f64>); 2] =
    [(100_000, 50.0, Some(20.0)), (1_000_000, 1_000.0, None)];

/// A partition may take this many times as long in the largest fleet as in the one before it.
const GROWTH_MAX: f64 = 3.0;

/// The row of what must move.
const FEWEST: &str = "(the fewest)";

const HEAD: [&str; 8] =
    ["CONTENDER", "MAX-MIN", "LEAVE", "JOIN", "SCRATCH ms", "LEAVE ms", "JOIN ms", "RATIO"];

/// Adds rows, tables, checks and remarks.
pub fn add_to_report(contests: &[Contest], bars: bool, report: &mut Report) {
    for contest in contests {
        add_times(contest, report);
        report.table(table(contest));
        judge_moves(contest, report);
    }
    if bars {
        judge_growth(contests, report);
    }
    report.note(format!(
        "MAX-MIN: the largest difference between two nodes, in any of the three states. LEAVE, \
         JOIN: how many\npartitions get another owner; a contender that is not even moves fewer. \
         RATIO: to baton, from scratch.\n{} is Python's; it is killed after {} s, and not tried \
         with more than {} partitions",
        sticky::NAME,
        sticky::PATIENCE.as_secs(),
        grouped(sticky::PARTITIONS_MAX.into())
    ));
}

fn ours(contest: &Contest) -> Option<&Measured> {
    contest.measured.first()
}

fn add_times(Contest { fleet, measured }: &Contest, report: &mut Report) {
    let Some(ours) = measured.first() else { return };
    let bars = BARS.into_iter().find(|(partitions, ..)| *partitions == fleet.partitions());
    let bar = |most: Option<f64>| most.map(Bar::max);
    let steps = [
        ("scratch", &ours.scratch, bars.map(|(_, scratch, _)| scratch)),
        ("leave", &ours.leave, bars.and_then(|(.., leave)| leave)),
        ("join", &ours.join, None),
    ];
    for (name, step, most) in steps {
        let times = step.iter().flat_map(|step| &step.times).copied().map(ms);
        let name = format!("{}, {name}", short(fleet));
        report.measured(&name, "ms", &times.collect::<Vec<_>>(), bar(most).as_slice());
    }
}

/// A fleet in few characters.
fn short(fleet: &Fleet) -> String {
    let (partitions, nodes) = (fleet.partitions(), fleet.nodes.len() as u64);
    let small = if fleet.lists.len() as u32 == partitions { " lists" } else { "" };
    format!("{}{small} x {}", grouped(partitions.into()), grouped(nodes))
}

fn table(contest: &Contest) -> TextTable {
    let mut table = TextTable::new(contest.fleet.to_string(), &HEAD);
    let Some(ours) = contest.measured.first() else { return table };
    let shown = |number: Option<u64>| number.map_or("-".to_owned(), grouped);
    let fewest = [&ours.leave, &ours.join].map(|step| shown(step.as_ref().map(|it| it.fewest)));
    let (partitions, nodes) = (contest.fleet.partitions() as usize, contest.fleet.nodes.len());
    let is_uneven = [nodes - 1, nodes, nodes + 1].into_iter().any(|it| partitions % it > 0);
    let least = u64::from(is_uneven).to_string();
    let empty = vec!["-".to_owned(); 4];
    table.row([FEWEST.to_owned(), least].into_iter().chain(fewest).chain(empty));
    let scratch = |measured: &Measured| measured.scratch.as_ref().map(Step::shortest);
    for measured in &contest.measured {
        let steps = [&measured.scratch, &measured.leave, &measured.join].map(Option::as_ref);
        let difference = steps.into_iter().flatten().map(|step| step.difference).max();
        let moves = steps[1..].iter().map(|step| shown(step.map(|step| step.moves)));
        let time = |step: Option<&Step>| {
            let late = || format!("> {}", number(ms(sticky::PATIENCE)));
            step.map_or_else(late, |step| number(ms(step.shortest())))
        };
        let ratio = scratch(measured)
            .zip(scratch(ours))
            .map_or("-".to_owned(), |(time, ours)| number(time.as_secs_f64() / ours.as_secs_f64()));
        let cells = [measured.name.to_owned(), shown(difference)].into_iter().chain(moves);
        table.row(cells.chain(steps.map(time)).chain([ratio]));
    }
    table
}

/// Baton moves the fewest, and its result is even.
fn judge_moves(contest: &Contest, report: &mut Report) {
    let Some(ours) = ours(contest) else { return };
    let (mut beyond, mut difference) = (0, 0);
    for step in [&ours.scratch, &ours.leave, &ours.join].into_iter().flatten() {
        beyond += step.moves.abs_diff(step.fewest);
        difference = difference.max(step.difference);
    }
    let short = short(&contest.fleet);
    report.must_be_none(&format!("{short}: extra moves"), beyond as usize);
    let found = difference.to_string();
    report.must(&format!("{short}: difference"), difference <= 1, found, "1 at most");
}

/// What a partition takes from scratch in the largest fleet, and in the one before it.
fn judge_growth(contests: &[Contest], report: &mut Report) {
    let per_partition = |wanted: u32| {
        let contest = contests.iter().find(|it| it.fleet.partitions() == wanted)?;
        let scratch = ours(contest)?.scratch.as_ref()?;
        Some(scratch.shortest().as_secs_f64() * 1e9 / f64::from(wanted))
    };
    let [small, large] = BARS.map(|(partitions, ..)| per_partition(partitions));
    let (Some(small), Some(large)) = (small, large) else { return };
    let found = format!("{} to {} ns", number(small), number(large));
    let wanted = format!("{GROWTH_MAX} times at most");
    report.must("time of a partition", large <= GROWTH_MAX * small, found, wanted);
}

/// A number with a comma after every third digit from the right.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_are_grouped() {
        let shown = [0, 999, 1_000, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }
}

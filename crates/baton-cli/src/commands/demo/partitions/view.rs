//! One frame of the live view: which process owns which partition, and what happened last.

use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;

use super::PARTITIONS;
use super::acts::Act;
use crate::commands::demo::journal::Entry;
use crate::commands::demo::view::{heading, last_entries};
use crate::output::style::Tone;
use crate::output::table::{Cell, Table};

const OWNED: &str = "■";
const FRESH: &str = "◆";
const UNOWNED: &str = "□";

/// What becomes of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Active,
    Leads,
    Draining,
    Drained,
    Killed,
}

impl State {
    fn cell(self) -> Cell {
        let (text, tone) = match self {
            Self::Active => ("active", Tone::Plain),
            Self::Leads => ("leads", Tone::Good),
            Self::Draining => ("draining", Tone::Warn),
            Self::Drained => ("drained", Tone::Warn),
            Self::Killed => ("killed", Tone::Bad),
        };
        // The map beside it stays where it is.
        Cell::new(format!("{text:<8}"), tone)
    }
}

/// A process, and of each partition whether this process owns it and began to only a moment ago.
pub struct Row {
    pub node: NodeId,
    pub state: State,
    pub process: Option<u32>,
    pub cells: Vec<Option<bool>>,
}

/// What a frame shows.
pub struct Scene<'a> {
    pub elapsed: Duration,
    pub began: Moment,
    pub rows: Vec<Row>,
    pub double_owners: usize,
    pub entries: &'a [Entry<Act>],
    pub width: usize,
}

/// The frame as text.
pub fn render(scene: &Scene<'_>) -> String {
    let title = format!("baton demo --partitions: three processes share {PARTITIONS} partitions");
    let mut text = heading(&title, scene.elapsed, scene.width);
    text.push_str(&map(scene).render(Some(scene.width)));
    let owned = PARTITIONS as usize - unowned(scene).iter().filter(|it| **it).count();
    let doubled = format!("double owners so far: {}", scene.double_owners);
    let tone = if scene.double_owners == 0 { Tone::Good } else { Tone::Bad };
    let doubled = tone.paint(&doubled);
    text.push_str(&format!("\n{owned} of {PARTITIONS} partitions have an owner, {doubled}\n"));
    let legend = format!("{OWNED} owned by that process   {FRESH} for less than a second");
    text.push_str(&format!("{}\n\n", Tone::Faint.paint(&legend)));
    text.push_str(&last_entries(scene.entries, scene.began, scene.width));
    text
}

/// A row for each process and one for no owner, a column for each partition.
fn map(scene: &Scene<'_>) -> Table {
    let numbers = (0..PARTITIONS).map(|number| format!(">{number}"));
    let titles = ["NODE", "STATE", ">PROCESS", ">OWNS"].map(str::to_owned);
    let mut table = Table::new(&titles.into_iter().chain(numbers).collect::<Vec<_>>());
    for row in &scene.rows {
        let process = row.process.map_or("-".to_owned(), |pid| pid.to_string());
        let load = row.cells.iter().flatten().count();
        let cells = row.cells.iter().map(|owned| match owned {
            Some(true) => Cell::new(FRESH, Tone::Warn),
            Some(false) => Cell::new(OWNED, Tone::Good),
            None => Cell::new("·", Tone::Faint),
        });
        let head = [
            row.node.to_string().into(),
            row.state.cell(),
            process.into(),
            load.to_string().into(),
        ];
        table.row(head.into_iter().chain(cells));
    }
    let unowned = unowned(scene);
    let count = unowned.iter().filter(|it| **it).count();
    let cells = unowned.into_iter().map(|is_unowned| match is_unowned {
        true => Cell::new(UNOWNED, Tone::Bad),
        false => "".into(),
    });
    let head = ["no owner".into(), "".into(), "".into(), count.to_string().into()];
    table.row(head.into_iter().chain(cells));
    table
}

/// Of each partition, whether no process owns it.
fn unowned(scene: &Scene<'_>) -> Vec<bool> {
    let is_unowned = |at: usize| scene.rows.iter().all(|row| row.cells[at].is_none());
    (0..PARTITIONS as usize).map(is_unowned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, state: State, owns: impl Fn(usize) -> bool) -> Row {
        let node = NodeId::new(name).expect("valid");
        let cells = (0..12).map(|at| owns(at).then_some(at % 2 == 0)).collect();
        Row { node, state, process: Some(4_194_304), cells }
    }

    #[test]
    fn a_frame_fits_eighty_columns_and_says_who_owns_what() {
        let began = Moment::from_micros(0);
        let text = "a long entry that goes on and on ".repeat(5);
        let entries = vec![Entry { at: began, until: None, act: None, text }; 20];
        let scene = Scene {
            elapsed: Duration::from_secs(12),
            began,
            rows: vec![
                row("alice", State::Draining, |at| at < 4),
                row("bob", State::Leads, |at| at > 4),
                row("carol", State::Killed, |_| false),
                row("dave", State::Active, |_| false),
            ],
            double_owners: 0,
            entries: &entries,
            width: 80,
        };
        let text = anstream::adapter::strip_str(&render(&scene)).to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("11 of 12 partitions have an owner"), "{text}");
        let no_owner = text.lines().find(|line| line.starts_with("no owner")).expect("a row");
        assert_eq!(no_owner.split_whitespace().collect::<Vec<_>>(), ["no", "owner", "1", "□"]);
        assert!(text.lines().count() <= 23, "it fits a small terminal:\n{text}");
    }
}

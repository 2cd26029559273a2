//! The map of all task lists as an SVG picture.
//!
//! ```text
//!   title
//!   a ▇ web-1  12     b ▇ web-2  12       legend: a colour for each node, how many it has
//!   default/orders: 24 partitions, 23 owned
//!     0  ▇▇▇▇▇▇▇▇▇▇▨▇▇▇▇▇▇▇▇▇▇▇▇□         ▨ to be released, □ no owner
//! ```
//!
//! A node has one path for all its partitions of a list, so that large lists stay small files.

use std::collections::BTreeMap;
use std::fmt::Write;

use baton::partitions::{Partition, PartitionMap, PartitionOwnership, TaskList, TaskListStatus};
use baton_core::ids::NodeId;
use svg::Document;
use svg::node::element::{Definitions, Group, Line, Path, Pattern, Rectangle, Style, Text};

use super::map;
use super::status::NodeReport;

const WIDTH: f64 = 1_000.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 64.0;
const LEGEND_ROW: f64 = 22.0;
const LEGEND_COLUMNS: usize = 4;
const HEAD: f64 = 34.0;

/// Cells are so large in lists of up to so many partitions.
const SIZES: [(u32, f64); 3] = [(1_000, 22.0), (20_000, 8.0), (u32::MAX, 3.0)];

/// The first nodes have colours that people with any colour vision can tell apart (after Okabe and
/// Ito). Those of the others are turned by the golden angle.
const COLOURS: [&str; 7] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800"];
const TURN: f64 = 137.508;

const STYLE: &str = "\
text{font:12px system-ui,Helvetica,Arial,sans-serif;fill:#1f2328}\
.title{font-size:17px;font-weight:600}.head{font-weight:600}.number{fill:#656d76}\
.mark{fill:#fff;font-size:11px;text-anchor:middle}\
.paper{fill:#fff}.none{fill:none;stroke:#8c959f;stroke-dasharray:2 2}\
.empty{fill:#8c959f;fill-opacity:.25}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}\
.number{fill:#8d96a0}.none{stroke:#6e7681}}";

/// What a cell shows: the owner, and whether it is to release the partition.
type Shown = (Option<NodeId>, bool);

struct Palette {
    colours: BTreeMap<NodeId, String>,
    marks: BTreeMap<NodeId, char>,
}

/// Draws all lists, below a legend of the nodes.
pub fn draw(title: &str, lists: &[TaskList], nodes: &[NodeReport], map: &PartitionMap) -> String {
    let ids = || nodes.iter().map(|it| &it.node);
    let colours = ids().cloned().zip((0..).map(colour)).collect();
    let palette = Palette { colours, marks: map::marks(ids()) };
    let (legend, mut y) = legend(nodes, &palette);
    let mut groups = vec![legend];
    for list in lists {
        let (drawn, below) = draw_list(list, map, &palette, y);
        groups.push(drawn);
        y = below;
    }
    let paper = Rectangle::new().set("class", "paper").set("rx", 8);
    let stripes = Line::new().set("y2", 6).set("stroke", "#fff").set("stroke-width", 4);
    let stripes = Pattern::new()
        .set("id", "releasing")
        .set("width", 6)
        .set("height", 6)
        .set("patternUnits", "userSpaceOnUse")
        .set("patternTransform", "rotate(45)")
        .add(stripes);
    let start = Document::new()
        .set("viewBox", (0.0, 0.0, WIDTH, y))
        .set("width", WIDTH)
        .set("height", y)
        .add(Style::new(STYLE))
        .add(Definitions::new().add(stripes))
        .add(paper.set("width", WIDTH).set("height", y))
        .add(text(title, 24.0, 36.0).set("class", "title"));
    groups.into_iter().fold(start, Document::add).to_string()
}

/// The colour of a node, by its place among the others.
pub fn colour(at: usize) -> String {
    let known = COLOURS.get(at).map(|colour| (*colour).to_owned());
    known.unwrap_or_else(|| hue(at as f64 * TURN))
}

/// A colour of this hue, in degrees, on which white letters can be read.
fn hue(degrees: f64) -> String {
    let part = |turned: f64| {
        let distance = ((degrees + turned) / 60.0).rem_euclid(6.0) - 3.0;
        (50.0 + 140.0 * (distance.abs() - 1.0).clamp(0.0, 1.0)) as u8
    };
    format!("#{:02x}{:02x}{:02x}", part(0.0), part(240.0), part(120.0))
}

/// The nodes with their colours and counts, and what the two other kinds of cells mean. Returns
/// where it ends as well.
fn legend(nodes: &[NodeReport], palette: &Palette) -> (Group, f64) {
    let mut group = Group::new();
    let column = (WIDTH - 48.0) / LEGEND_COLUMNS as f64;
    let place = |at: usize| {
        let (row, in_row) = (at / LEGEND_COLUMNS, at % LEGEND_COLUMNS);
        (24.0 + in_row as f64 * column, TOP + row as f64 * LEGEND_ROW)
    };
    for (at, it) in nodes.iter().enumerate() {
        let (x, y) = place(at);
        let words = format!("{}: {}", it.node, it.partitions);
        let mark = palette.marks.get(&it.node).copied().unwrap_or(' ');
        let colour = palette.colours.get(&it.node).cloned().unwrap_or_default();
        group = group
            .add(square(x, y, 16.0).set("fill", colour))
            .add(text(&mark.to_string(), x + 8.0, y + 12.0).set("class", "mark"))
            .add(text(&words, x + 24.0, y + 12.0));
    }
    let (x, y) = place(nodes.len().next_multiple_of(LEGEND_COLUMNS));
    let second = x + column;
    let group = group
        .add(square(x, y, 16.0).set("fill", "#8c959f"))
        .add(square(x, y, 16.0).set("fill", "url(#releasing)"))
        .add(text("to be released", x + 24.0, y + 12.0))
        .add(square(second + 0.5, y + 0.5, 15.0).set("class", "none"))
        .add(text("no owner", second + 24.0, y + 12.0));
    (group, y + LEGEND_ROW + 12.0)
}

fn draw_list(list: &TaskList, map: &PartitionMap, palette: &Palette, y: f64) -> (Group, f64) {
    let size = SIZES.iter().find(|(most, _)| list.partitions <= *most).map_or(3.0, |it| it.1);
    let room = ((WIDTH - LEFT - RIGHT) / size) as u32;
    let in_row = (room / 10 * 10).max(10);
    let paused = if list.status == TaskListStatus::Paused { ", paused" } else { "" };
    let owned = map::owned(list, map);
    let head = format!("{}: {} partitions, {owned} owned{paused}", list.id, list.partitions);
    let mut group = Group::new().add(text(&head, 24.0, y + 16.0).set("class", "head"));
    let top = y + HEAD - 8.0;
    let at = |number: u32| {
        let (row, in_row) = (number / in_row, number % in_row);
        (LEFT + f64::from(in_row) * size, top + f64::from(row) * size)
    };
    let mut cells: BTreeMap<Shown, String> = BTreeMap::new();
    let mut letters = Group::new();
    let gap = if size > 4.0 { 1.5 } else { 0.0 };
    for number in 0..list.partitions {
        let partition = Partition { list: list.id.clone(), number };
        let owner = map.owner(&partition);
        let (x, y) = at(number);
        let cell = size - gap;
        let path = cells.entry(shown(owner)).or_default();
        let _ = write!(path, "M{x} {y}h{cell}v{cell}h-{cell}z");
        let mark = owner.and_then(|owner| palette.marks.get(&owner.node));
        if let Some(mark) = mark.filter(|_| size > 20.0) {
            let letter = text(&mark.to_string(), x + cell / 2.0, y + cell / 2.0 + 4.0);
            letters = letters.add(letter.set("class", "mark"));
        }
    }
    for ((node, is_releasing), path) in cells {
        let none = if size > 20.0 { "none" } else { "empty" };
        group = match node {
            Some(node) => paint(group, &path, &node, is_releasing, palette),
            None => group.add(Path::new().set("d", path).set("class", none)),
        };
    }
    // The numbers of rows that lie close together would overlap.
    let step = (15.0 / size).ceil() as usize;
    for first in (0..list.partitions).step_by(in_row as usize * step.max(1)) {
        let middle = at(first).1 + size / 2.0 + 4.0;
        let number = text(&first.to_string(), LEFT - 8.0, middle).set("class", "number");
        group = group.add(number.set("text-anchor", "end"));
    }
    let rows = list.partitions.div_ceil(in_row);
    (group.add(letters), top + f64::from(rows) * size + 18.0)
}

fn shown(owner: Option<&PartitionOwnership>) -> Shown {
    (owner.map(|it| it.node.clone()), owner.is_some_and(|it| it.is_releasing))
}

fn paint(group: Group, path: &str, node: &NodeId, is_releasing: bool, palette: &Palette) -> Group {
    let cells = |fill: &str| Path::new().set("d", path).set("fill", fill);
    let group = group.add(cells(palette.colours.get(node).map_or("", String::as_str)));
    match is_releasing {
        true => group.add(cells("url(#releasing)")),
        false => group,
    }
}

fn text(text: &str, x: f64, y: f64) -> Text {
    Text::new(text).set("x", x).set("y", y)
}

fn square(x: f64, y: f64, size: f64) -> Rectangle {
    let at = Rectangle::new().set("x", x).set("y", y);
    at.set("width", size).set("height", size).set("rx", 2)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nodes_have_different_colours() {
        let colours: BTreeSet<String> = (0..26).map(colour).collect();
        assert_eq!(colours.len(), 26, "{colours:?}");
        assert!(colours.iter().all(|it| it.len() == 7 && it.starts_with('#')), "{colours:?}");
        assert_eq!([hue(0.0), hue(120.0), hue(240.0)], ["#be3232", "#32be32", "#3232be"]);
    }
}

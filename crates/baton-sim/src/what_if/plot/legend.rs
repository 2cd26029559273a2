//! What the shapes mean.

use svg::node::element::{Group, Path, Rectangle, Text};

use super::{Frame, LANE, LEFT, colour, marks};

/// Where each entry begins: as wide as the names before it.
const PLACES: [f64; 7] = [0.0, 165.0, 300.0, 385.0, 550.0, 690.0, 855.0];

/// Shapes with their names, in one row under the axis.
pub fn legend(frame: Frame) -> Group {
    let middle = frame.floor() + 48.0;
    let lane_top = middle - LANE / 2.0;
    let block = |x: f64, ink: &str| {
        Rectangle::new()
            .set("x", x)
            .set("y", middle - 6.0)
            .set("width", 18)
            .set("height", 12)
            .set("fill", ink.to_owned())
    };
    let at = |number: usize| LEFT + PLACES[number];
    let cross: Path = marks::cross(at(2) + 9.0, middle);
    let arrow: Path = marks::arrow(at(3) + 9.0, middle + 11.0);
    let group = Group::new()
        .add(block(at(0), colour::REIGN))
        .add(block(at(1), colour::GAP))
        .add(cross)
        .add(arrow)
        .add(marks::hatched("pause", at(4), lane_top + 9.0, 18.0).set("height", 12))
        .add(marks::hatched("cut", at(5), lane_top + 9.0, 18.0).set("height", 12))
        .add(marks::band(at(6), middle - 6.0, 18.0, middle + 6.0));
    let names = [
        "leader's term",
        "nobody can act",
        "killed",
        "told to leave (deploy)",
        "process paused",
        "host without network",
        "store away",
    ];
    names.into_iter().enumerate().fold(group, |group, (number, name)| {
        group.add(Text::new(name).set("x", at(number) + 25.0).set("y", middle + 4.0))
    })
}

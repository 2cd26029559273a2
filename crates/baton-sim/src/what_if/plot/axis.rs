//! The time axis: ticks at round times.

use std::time::Duration;

use svg::node::element::{Group, Line, Text};

use super::{Frame, colour};
use crate::clock::True;

/// At most so many ticks.
const MOST_TICKS: u64 = 16;

/// Times between ticks that read well, in seconds.
const STEPS: [u64; 12] = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200];

/// Ticks and their labels over a length of time.
pub fn axis(frame: Frame, length: Duration) -> Group {
    let step = step(length);
    let mut group = Group::new().set("text-anchor", "middle").set("font-size", 11);
    for tick in 0..=length.as_secs() / step {
        let seconds = tick * step;
        let x = frame.x(True::from_micros(seconds * 1_000_000));
        group = group
            .add(
                Line::new()
                    .set("x1", x)
                    .set("x2", x)
                    .set("y1", frame.y(0))
                    .set("y2", frame.floor() + 5.0)
                    .set("stroke", colour::FAINT),
            )
            .add(Text::new(label(seconds)).set("x", x).set("y", frame.floor() + 18.0));
    }
    group
}

fn step(length: Duration) -> u64 {
    let fits = |step: &&u64| length.as_secs() / **step <= MOST_TICKS;
    // Days of plot would be a plot of nothing; a day between ticks then.
    STEPS.iter().find(fits).copied().unwrap_or(86_400)
}

fn label(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let s = Duration::from_secs;
        assert_eq!((step(s(12)), step(s(700)), step(s(5_000))), (1, 60, 300));
        assert_eq!((label(75).as_str(), label(3_700).as_str()), ("1:15", "1:01:40"));
    }
}

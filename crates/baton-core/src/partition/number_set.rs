//! Sets of partition numbers, and their text: `0-3,7,10-90/10`.
//!
//! Partitions are dealt to nodes in turn, so that a node's numbers lie at equal distances. A run of
//! them is written as `first-last/distance`, and a set of some thousands is mostly a few bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::task_list::PARTITIONS_MAX;

/// A run of fewer numbers than this is written number by number, unless they follow each other.
const RUN_MIN: usize = 3;

/// Numbers of the partitions of one task list, each once, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NumberSet(Vec<u32>);

/// A text is no set of numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{part:?} is no set of partition numbers; write numbers below {PARTITIONS_MAX} in rising \
     order, such as \"0-3,7\" or \"10-90/10\""
)]
pub struct InvalidNumberSet {
    /// The part that cannot be read.
    pub part: String,
}

impl NumberSet {
    /// The numbers from 0, this many.
    pub fn first(count: u32) -> Self {
        (0..count).collect()
    }

    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many numbers it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Is this number in it?
    pub fn contains(&self, number: u32) -> bool {
        self.0.binary_search(&number).is_ok()
    }

    /// Adds a number; says whether it is new.
    pub fn insert(&mut self, number: u32) -> bool {
        match self.0.binary_search(&number) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, number);
                true
            }
        }
    }

    /// Takes a number out; says whether it was there.
    pub fn remove(&mut self, number: u32) -> bool {
        self.0.binary_search(&number).map(|at| self.0.remove(at)).is_ok()
    }

    /// The numbers, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// How many runs its text has.
    pub fn runs(&self) -> usize {
        Runs(&self.0).count()
    }
}

impl FromIterator<u32> for NumberSet {
    fn from_iter<T: IntoIterator<Item = u32>>(numbers: T) -> Self {
        let mut numbers: Vec<_> = numbers.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers)
    }
}

/// Splits numbers into runs of equal distance.
struct Runs<'a>(&'a [u32]);

impl<'a> Iterator for Runs<'a> {
    type Item = &'a [u32];

    fn next(&mut self) -> Option<&'a [u32]> {
        let numbers = self.0;
        let first = numbers.first()?;
        let distance = numbers.get(1).map(|second| second - first);
        let equal = numbers.windows(2).take_while(|pair| Some(pair[1] - pair[0]) == distance);
        let count = equal.count() + 1;
        let length = if count < RUN_MIN && distance != Some(1) { 1 } else { count };
        let (run, rest) = numbers.split_at(length);
        self.0 = rest;
        Some(run)
    }
}

impl fmt::Display for NumberSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, run) in Runs(&self.0).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match run {
                [] => {}
                [only] => write!(f, "{comma}{only}")?,
                [first, second, ..] => {
                    let last = run[run.len() - 1];
                    write!(f, "{comma}{first}-{last}")?;
                    if second - first > 1 {
                        write!(f, "/{}", second - first)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl FromStr for NumberSet {
    type Err = InvalidNumberSet;

    fn from_str(text: &str) -> Result<Self, InvalidNumberSet> {
        let mut numbers = Vec::new();
        for part in text.split(',').filter(|_| !text.is_empty()) {
            let run = read_run(part).filter(|run| numbers.last() < run.first());
            numbers.extend(run.ok_or_else(|| InvalidNumberSet { part: part.to_owned() })?);
        }
        Ok(Self(numbers))
    }
}

fn read_run(part: &str) -> Option<Vec<u32>> {
    let number = |text: &str| text.parse().ok().filter(|number| *number < PARTITIONS_MAX);
    let Some((first, rest)) = part.split_once('-') else { return Some(vec![number(part)?]) };
    let (last, distance) = rest.split_once('/').unwrap_or((rest, "1"));
    let (first, last, distance) = (number(first)?, number(last)?, number(distance)?);
    let is_run = first < last && distance > 0 && (last - first).is_multiple_of(distance);
    is_run.then(|| (first..=last).step_by(distance as usize).collect())
}

impl TryFrom<String> for NumberSet {
    type Error = InvalidNumberSet;

    fn try_from(text: String) -> Result<Self, InvalidNumberSet> {
        text.parse()
    }
}

impl From<NumberSet> for String {
    fn from(set: NumberSet) -> Self {
        set.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u32]) -> NumberSet {
        numbers.iter().copied().collect()
    }

    #[test]
    fn a_set_is_short_and_comes_back_whole() {
        let cases: [(&[u32], &str); 8] = [
            (&[], ""),
            (&[7], "7"),
            (&[0, 1], "0-1"),
            (&[0, 5], "0,5"),
            (&[3, 1, 0, 2, 3, 7], "0-3,7"),
            (&[10, 20, 30, 40, 41, 42], "10-40/10,41-42"),
            (&[1, 5, 6, 7, 20], "1,5-7,20"),
            (&[0, 2, 5, 8, 11], "0,2-11/3"),
        ];
        for (numbers, text) in cases {
            assert_eq!(set(numbers).to_string(), text);
            assert_eq!(text.parse(), Ok(set(numbers)));
        }
        let dealt: NumberSet = (0..100_000).step_by(3).collect();
        assert_eq!((dealt.to_string().as_str(), dealt.runs()), ("0-99999/3", 1));
    }

    #[test]
    fn what_is_no_set_is_refused_by_the_part_that_is_wrong() {
        for (text, part) in [
            ("1,,2", ""),
            ("x", "x"),
            ("5-3", "5-3"),
            ("0-9/2", "0-9/2"),
            ("0-9/0", "0-9/0"),
            ("3,3", "3"),
            ("1000000", "1000000"),
        ] {
            let refused = text.parse::<NumberSet>().expect_err(text);
            assert_eq!(refused.part, part);
        }
    }

    #[test]
    fn numbers_come_and_go() {
        let mut set = NumberSet::first(3);
        assert!(set.remove(1) && !set.remove(1) && !set.contains(1));
        assert!(set.insert(9) && !set.insert(9));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 2, 9]);
    }
}

//! What must never be: two owners at once, a token that does not rise, a late write that counts.

use std::collections::BTreeMap;
use std::time::Duration;

use baton::clock::Moment;
use baton::partitions::Partition;

use super::history::{AcknowledgedWrite, History, Work};
use crate::report::Report;

/// How many findings of a kind are shown.
const SHOWN: usize = 5;

/// What was found, each as a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Two owners of a partition at once.
    pub doubled: Vec<String>,
    /// Owners whose token is no higher than that of one before.
    pub unordered: Vec<String>,
    /// Writes of former owners that were taken, and writes that count twice.
    pub late: Vec<String>,
}

impl Findings {
    /// Looks at everything that was done.
    pub fn of(history: &History) -> Self {
        let mut found = Self::default();
        for works in by_partition(&history.works).values() {
            found.look_at_works(history, works);
        }
        found.late = late_writes(&history.writes);
        found
    }

    fn look_at_works(&mut self, history: &History, works: &[&Work]) {
        for (at, later) in works.iter().enumerate() {
            for earlier in &works[..at] {
                let overlap = match earlier.end {
                    None => Some(None),
                    Some(end) => (end > later.start).then(|| Some(end.since(later.start))),
                };
                let said = || {
                    let (first, second) =
                        (history.node(earlier.process), history.node(later.process));
                    format!(
                        "{}: {first} ({:?}), then {second} ({:?}) at {:?}",
                        later.partition, earlier.token, later.token, later.start
                    )
                };
                match overlap {
                    Some(Some(by)) => self.doubled.push(format!("{}, {by:?}", said())),
                    Some(None) => self.doubled.push(format!("{}, to the end", said())),
                    None => {}
                }
                if earlier.token >= later.token {
                    self.unordered.push(said());
                }
            }
        }
    }

    /// Adds what must not be to a report.
    pub fn add_to(&self, name: &str, report: &mut Report) {
        report.must_be_none(&format!("{name}: double owners"), self.doubled.len());
        report.must_be_none(&format!("{name}: tokens that did not rise"), self.unordered.len());
        report.must_be_none(&format!("{name}: late writes taken"), self.late.len());
        for said in [&self.doubled, &self.unordered, &self.late] {
            for line in said.iter().take(SHOWN) {
                report.note(format!("{name}: {line}"));
            }
        }
    }
}

/// The works of each partition, in the order of their starts.
pub fn by_partition(works: &[Work]) -> BTreeMap<&Partition, Vec<&Work>> {
    let mut sorted: BTreeMap<&Partition, Vec<&Work>> = BTreeMap::new();
    for work in works {
        sorted.entry(&work.partition).or_default().push(work);
    }
    for works in sorted.values_mut() {
        works.sort_by_key(|work| work.start);
    }
    sorted
}

/// In the order in which the store took them, tokens do not fall, and no write has the number of
/// another.
fn late_writes(writes: &[AcknowledgedWrite]) -> Vec<String> {
    let mut sorted: BTreeMap<&Partition, Vec<&AcknowledgedWrite>> = BTreeMap::new();
    for write in writes {
        sorted.entry(&write.partition).or_default().push(write);
    }
    let mut late = Vec::new();
    for writes in sorted.values_mut() {
        writes.sort_by_key(|write| write.count);
        let pairs = writes.windows(2);
        let wrong = pairs.filter(|it| it[1].token < it[0].token || it[1].count == it[0].count);
        late.extend(wrong.map(|it| format!("{:?} after {:?}", it[1], it[0])));
    }
    late
}

/// How long each partition whose work began anew after this moment had been without an owner.
pub fn gaps(works: &[Work], since: Moment) -> Vec<Duration> {
    let mut gaps = Vec::new();
    for works in by_partition(works).values() {
        let pairs = works.windows(2).filter(|pair| pair[1].start >= since);
        gaps.extend(pairs.filter_map(|pair| Some(pair[1].start.since(pair[0].end?))));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use baton::NodeId;
    use baton::partitions::Token;

    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::from_micros(ms * 1_000)
    }

    fn partition() -> Partition {
        Partition { list: "orders".parse().expect("a plain name"), number: 7 }
    }

    fn found(works: &[(u64, Option<u64>, Token)]) -> Findings {
        let mut history = History::default();
        for (process, (start, end, token)) in works.iter().enumerate() {
            let node = NodeId::new(&format!("node-{process}")).expect("a plain name");
            history.follow(node, std::path::Path::new("no/such/log"));
            history.works.push(Work {
                partition: partition(),
                token: *token,
                process,
                start: at(*start),
                end: end.map(at),
            });
        }
        Findings::of(&history)
    }

    #[test]
    fn owners_one_after_the_other_are_sound() {
        let works = [(0, Some(5), Token(1)), (5, Some(9), Token(2)), (12, None, Token(3))];
        assert_eq!(found(&works), Findings::default());
    }

    #[test]
    fn two_owners_at_once_are_found_whichever_ended_first() {
        let ended = [(0, Some(6), Token(1)), (5, Some(9), Token(2))];
        assert_eq!(found(&ended).doubled.len(), 1);
        let longer = [(0, Some(50), Token(1)), (5, Some(9), Token(2)), (20, None, Token(3))];
        assert_eq!(found(&longer).doubled.len(), 2);
        let under_way = [(0, None, Token(1)), (5, None, Token(2))];
        assert!(found(&under_way).doubled[0].contains("node-0"));
    }

    #[test]
    fn a_token_that_is_no_higher_is_found() {
        let same = [(0, Some(4), Token(2)), (5, None, Token(2))];
        assert_eq!(found(&same).unordered.len(), 1);
        let lower = [(0, Some(4), Token(9)), (5, None, Token(3))];
        assert_eq!(found(&lower).unordered.len(), 1);
    }

    #[test]
    fn a_late_write_and_one_that_counts_twice_are_found() {
        let write = |count, token| AcknowledgedWrite { partition: partition(), token, count };
        let sound = [write(2, Token(2)), write(1, Token(1)), write(3, Token(2))];
        assert_eq!(late_writes(&sound), Vec::<String>::new());
        assert_eq!(late_writes(&[write(2, Token(1)), write(1, Token(2))]).len(), 1);
        assert_eq!(late_writes(&[write(2, Token(1)), write(2, Token(2))]).len(), 1);
    }

    #[test]
    fn a_gap_is_from_the_end_of_one_owner_to_the_start_of_the_next() {
        let work = |start, end: Option<u64>| Work {
            partition: partition(),
            token: Token(start),
            process: 0,
            start: at(start),
            end: end.map(at),
        };
        let works = [work(1, Some(10)), work(14, Some(20)), work(27, None)];
        assert_eq!(gaps(&works, at(0)), [4, 7].map(Duration::from_millis));
        assert_eq!(gaps(&works, at(15)), [Duration::from_millis(7)]);
    }
}

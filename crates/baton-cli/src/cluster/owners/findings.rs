//! What must never be: two owners at once, and a token that does not rise.

use std::collections::BTreeMap;

use baton::partitions::Partition;

use super::{History, Work};

/// What was found, each as a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Two owners of a partition at once.
    pub doubled: Vec<String>,
    /// Owners whose token is no higher than that of one before.
    pub unordered: Vec<String>,
}

impl Findings {
    /// Looks at everything that was done.
    pub fn of(history: &History) -> Self {
        let mut found = Self::default();
        for works in by_partition(&history.works).values() {
            found.look_at_works(history, works);
        }
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
}

/// The works of each partition, in the order of their starts.
pub(super) fn by_partition(works: &[Work]) -> BTreeMap<&Partition, Vec<&Work>> {
    let mut sorted: BTreeMap<&Partition, Vec<&Work>> = BTreeMap::new();
    for work in works {
        sorted.entry(&work.partition).or_default().push(work);
    }
    for works in sorted.values_mut() {
        works.sort_by_key(|work| work.start);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use baton::NodeId;
    use baton::clock::Moment;
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
}

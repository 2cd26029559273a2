//! What an event moved: how many partitions, and how long each had no owner meanwhile.

use std::time::Duration;

use baton::clock::Moment;

use super::Work;
use super::findings::by_partition;

/// The moves since an event, up to the last work that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventMoves {
    /// How many partitions were given to another process.
    pub moved: usize,
    /// From the event until the last of them had an owner again.
    pub owned_after: Duration,
    /// How long each of them had no owner.
    pub gaps: Vec<Duration>,
}

impl EventMoves {
    /// The moves since this moment.
    pub fn since(works: &[Work], event: Moment) -> Self {
        let starts = || works.iter().map(|work| work.start).filter(|start| *start >= event);
        let mut gaps = Vec::new();
        for works in by_partition(works).values() {
            let pairs = works.windows(2).filter(|pair| pair[1].start >= event);
            gaps.extend(pairs.filter_map(|pair| Some(pair[1].start.since(pair[0].end?))));
        }
        let owned_after = starts().max().unwrap_or(event).since(event);
        Self { moved: starts().count(), owned_after, gaps }
    }

    /// The longest time that a partition had no owner.
    pub fn longest_gap(&self) -> Duration {
        self.gaps.iter().max().copied().unwrap_or_default()
    }
}

/// The fewest moves after which every partition has an owner and no two nodes differ by more than
/// one. The nodes that take partitions have these now, and `unowned` more are to be placed.
pub(super) fn fewest_moves(loads: &[usize], unowned: usize) -> usize {
    let Some(nodes) = std::num::NonZeroUsize::new(loads.len()) else { return 0 };
    let all = loads.iter().sum::<usize>() + unowned;
    let (share, one_more) = (all / nodes, all % nodes);
    let mut loads = loads.to_vec();
    // Where one more may stay, it stays with the nodes that have most.
    loads.sort_unstable_by_key(|load| std::cmp::Reverse(*load));
    let kept = |(at, load): (usize, usize)| load.min(share + usize::from(at < one_more));
    all - loads.into_iter().enumerate().map(kept).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use baton::partitions::{Partition, Token};

    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::from_micros(ms * 1_000)
    }

    fn work(start: u64, end: Option<u64>) -> Work {
        Work {
            partition: Partition { list: "orders".parse().expect("a plain name"), number: 7 },
            token: Token(start),
            process: 0,
            start: at(start),
            end: end.map(at),
        }
    }

    #[test]
    fn a_gap_is_from_the_end_of_one_owner_to_the_start_of_the_next() {
        let works = [work(1, Some(10)), work(14, Some(20)), work(27, None)];
        let all = EventMoves::since(&works, at(0));
        assert_eq!(all.gaps, [4, 7].map(Duration::from_millis));
        let last = EventMoves::since(&works, at(15));
        assert_eq!((last.moved, last.owned_after), (1, Duration::from_millis(12)));
        assert_eq!(last.longest_gap(), Duration::from_millis(7));
    }

    #[test]
    fn an_event_that_moved_nothing_took_no_time() {
        let none = EventMoves::since(&[work(1, None)], at(9));
        assert_eq!((none.moved, none.owned_after), (0, Duration::ZERO));
        assert_eq!(none.longest_gap(), Duration::ZERO);
    }

    #[test]
    fn the_fewest_moves_place_what_has_no_owner_and_even_out_the_rest() {
        let cases: [(&[usize], usize, usize); 7] = [
            (&[4, 4], 4, 4),
            (&[6], 6, 6),
            (&[12, 0], 0, 6),
            (&[4, 4, 3], 0, 0),
            (&[4, 4, 3, 0], 0, 2),
            (&[5, 0], 1, 3),
            (&[], 12, 0),
        ];
        for (loads, unowned, fewest) in cases {
            assert_eq!(fewest_moves(loads, unowned), fewest, "{loads:?}, {unowned}");
        }
    }
}

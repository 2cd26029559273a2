//! Politeness: whatever goes wrong, a process never asks the store in a tight loop.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use baton_core::time::Moment;

use crate::fact::{Fact, ProcessId};

/// More requests than this within one beat are a loop: a beat, its retries with backoff, members,
/// a view, a release, and a look for each of a few hints stay well below.
const MOST: usize = 40;

/// Counts the requests of each process within one beat.
pub fn check(beat: Duration) -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    // When each process sent its last requests.
    let mut sent: BTreeMap<ProcessId, VecDeque<Moment>> = BTreeMap::new();
    move |fact: &Fact<'_>| {
        let Fact::Sent { pid, at, .. } = fact else { return Ok(()) };
        let sent = sent.entry(*pid).or_default();
        sent.push_back(*at);
        while sent.front().is_some_and(|first| at.since(*first) > beat) {
            sent.pop_front();
        }
        if sent.len() > MOST {
            return Err(format!("node {} sent {} requests in one beat", pid.slot, sent.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::pid;
    use baton_core::protocol::{Request, ViewVersion};

    #[test]
    fn a_tight_loop_fires() {
        let mut checker = check(Duration::from_secs(5));
        let mut send = |micros| {
            let at = Moment::from_micros(micros);
            checker(&Fact::Sent {
                pid: pid(1),
                at,
                local: at,
                request: &Request::ReadMembers,
                known_view: ViewVersion::default(),
                since_reply: Duration::ZERO,
            })
        };
        assert!((0..500).all(|n| send(n * 1_000_000).is_ok()));
        assert!((0..MOST as u64).any(|n| send(500_000_000 + n).is_err()));
    }
}

//! An attempt is started at most once anywhere, and the next one of its run only when it has ended.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::schedule::RunId;

use crate::schedules::fact::Fact;

/// Remembers each run of each schedule.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut started: BTreeMap<(String, RunId), u32> = BTreeMap::new();
    let mut running = BTreeSet::new();
    move |fact: &Fact<'_>| {
        match fact {
            Fact::Started { attempt, .. } => {
                let key = (attempt.schedule.clone(), attempt.run);
                let last = started.insert(key.clone(), attempt.attempt).unwrap_or(0);
                if attempt.attempt <= last {
                    return Err(format!("{attempt:?} starts after attempt {last} has started"));
                }
                if !running.insert(key) {
                    return Err(format!("{attempt:?} starts while attempt {last} runs"));
                }
            }
            Fact::Ended { attempt, .. } => {
                running.remove(&(attempt.schedule.clone(), attempt.run));
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::fact::TrueEnd;
    use crate::schedules::invariants::testing::{end, start};

    #[test]
    fn an_attempt_that_starts_twice_or_beside_the_one_before_fires() {
        let mut checker = check();
        assert!(start(&mut checker, 1, 1).is_ok());
        assert!(start(&mut checker, 2, 1).is_ok(), "another run");
        assert!(end(&mut checker, (1, 1), &TrueEnd::CutOff).is_ok());
        assert!(start(&mut checker, 1, 2).is_ok());
        assert!(start(&mut checker, 1, 3).is_err(), "attempt 2 runs");
        assert!(start(&mut checker, 2, 1).is_err(), "again");
    }
}

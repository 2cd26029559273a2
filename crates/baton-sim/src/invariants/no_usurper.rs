//! Node ids: a process that lives keeps its id. A process that starts under the same id may take it
//! over only from one that is dead, or after it has watched the other one's silence for two beats.

use std::time::Duration;

use crate::fact::Fact;

/// Looks at whose record is replaced.
pub fn check(beat: Duration) -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    // Two beats, by a clock that may be fast.
    let watched = beat * 3 / 2;
    move |fact: &Fact<'_>| match fact {
        Fact::RecordReplaced { by, living, after } if *after < watched => Err(format!(
            "node {} takes the id of node {}, which lives, {after:?} after its start",
            by.slot, living.slot
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::pid;

    #[test]
    fn a_record_taken_from_a_living_process_at_once_fires() {
        let mut checker = check(Duration::from_secs(5));
        let mut replaced = |seconds| {
            let after = Duration::from_secs(seconds);
            checker(&Fact::RecordReplaced { by: pid(2), living: pid(1), after })
        };
        assert!(replaced(10).is_ok());
        assert!(replaced(1).is_err());
    }
}

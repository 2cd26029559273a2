//! S4: no call into a plugin begins outside of the trust window, or after the soft deadline.

use crate::fact::Fact;

/// Looks at the window at the moment work begins.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    let Fact::WorkBegan { pid, epoch, local, window } = fact else { return Ok(()) };
    let inside = window.is_some_and(|(of, window)| of == *epoch && window.may_start(*local));
    if inside {
        return Ok(());
    }
    Err(format!(
        "node {} begins work of epoch {epoch} at {local:?} outside of its window {window:?}",
        pid.slot
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{at, pid, window};
    use baton_core::ids::Epoch;

    #[test]
    fn work_after_the_soft_deadline_or_of_another_term_fires() {
        let began = |epoch, local| Fact::WorkBegan {
            pid: pid(1),
            epoch: Epoch(epoch),
            local: at(local),
            window: Some((Epoch(2), window(10, 12))),
        };
        assert!(check(&began(2, 9)).is_ok());
        assert!(check(&began(2, 10)).is_err());
        assert!(check(&began(1, 9)).is_err());
    }
}

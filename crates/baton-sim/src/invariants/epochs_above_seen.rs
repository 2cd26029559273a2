//! S2: no process begins a term with an epoch that it has seen before, whatever the store lost.

use crate::fact::Fact;

/// Compares a new term with what its process had been shown.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    match fact {
        Fact::TermStarted { pid, epoch, seen, .. } if epoch <= seen => {
            Err(format!("node {} begins epoch {epoch} although it has seen epoch {seen}", pid.slot))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{node, pid};
    use baton_core::ids::Epoch;

    #[test]
    fn a_term_at_or_below_what_was_seen_fires() {
        let id = node("a");
        let start = |seen| Fact::TermStarted {
            pid: pid(1),
            node: &id,
            epoch: Epoch(5),
            seen: Epoch(seen),
            eligible: true,
        };
        assert!(check(&start(4)).is_ok());
        assert!(check(&start(5)).is_err());
    }
}

//! Eligibility: a node that may not lead never does.

use crate::fact::Fact;

/// Looks at who begins a term.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    match fact {
        Fact::TermStarted { node, epoch, eligible: false, .. } => {
            Err(format!("{node} begins epoch {epoch} although it may not lead"))
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
    fn a_term_of_an_ineligible_node_fires() {
        let id = node("a");
        let start = |eligible| {
            let (epoch, seen) = (Epoch(1), Epoch::NONE);
            check(&Fact::TermStarted { pid: pid(1), node: &id, epoch, seen, eligible })
        };
        assert!(start(true).is_ok());
        assert!(start(false).is_err());
    }
}

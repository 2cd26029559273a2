//! Health-gated candidacy: a coordinator whose plugins do not start gives the term up.

use super::Invariant;
use crate::fact::Fact;

/// Looks at what runs right after a failed start.
pub struct FailedStartHandsOver;

impl Invariant for FailedStartHandsOver {
    fn name(&self) -> &'static str {
        "failed_start_hands_over"
    }

    fn promise(&self) -> &'static str {
        "3.8"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Result<(), String> {
        match fact {
            Fact::StartFailed { who, epoch, running } if *running == Some(*epoch) => Err(format!(
                "node {} keeps epoch {epoch} although its plugins did not start",
                who.slot
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::who;
    use baton_core::ids::Epoch;

    #[test]
    fn keeping_a_term_that_did_not_start_fires() {
        let failed = |running| Fact::StartFailed { who: who(1), epoch: Epoch(2), running };
        assert!(FailedStartHandsOver.see(&failed(None)).is_ok());
        assert!(FailedStartHandsOver.see(&failed(Some(Epoch(2)))).is_err());
    }
}

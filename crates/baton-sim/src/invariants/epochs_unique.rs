//! S2: epochs strictly increase from term to term, and no two processes ever share one.

use baton_core::ids::Epoch;

use super::Invariant;
use crate::fact::{Fact, Who};

/// Remembers the last term that began.
#[derive(Default)]
pub struct EpochsUnique {
    last: Option<(Epoch, Who)>,
}

impl Invariant for EpochsUnique {
    fn name(&self) -> &'static str {
        "epochs_unique"
    }

    fn promise(&self) -> &'static str {
        "S2"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Result<(), String> {
        let Fact::TermStarted { who, epoch, .. } = fact else { return Ok(()) };
        if let Some((last, by)) = self.last
            && *epoch <= last
        {
            let slot = by.slot;
            return Err(format!("epoch {epoch} begins after epoch {last} of node {slot} did"));
        }
        self.last = Some((*epoch, *who));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{node, who};

    #[test]
    fn an_epoch_that_repeats_or_goes_back_fires() {
        let id = node("a");
        let start = |n, epoch| Fact::TermStarted {
            who: who(n),
            node: &id,
            epoch: Epoch(epoch),
            seen: Epoch::NONE,
            eligible: true,
        };
        let mut checker = EpochsUnique::default();
        assert!(checker.see(&start(1, 1)).is_ok());
        assert!(checker.see(&start(2, 2)).is_ok());
        assert!(checker.see(&start(3, 2)).is_err());
        assert!(checker.see(&start(3, 1)).is_err());
    }
}

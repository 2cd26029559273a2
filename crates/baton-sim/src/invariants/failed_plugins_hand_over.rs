//! Health-gated candidacy: a leader whose plugins do not start, or fail too often, gives the
//! term up.

use super::{Invariant, Promise};
use crate::fact::Fact;

/// Looks at what runs right after the plugins failed.
pub struct FailedPluginsHandOver;

impl Invariant for FailedPluginsHandOver {
    fn promise(&self) -> Promise {
        Promise { checker: "failed_plugins_hand_over", name: "3.8" }
    }

    fn see(&mut self, fact: &Fact<'_>) -> Result<(), String> {
        match fact {
            Fact::PluginsFailed { who, epoch, running } if *running == Some(*epoch) => {
                Err(format!("node {} keeps epoch {epoch} although its plugins failed", who.slot))
            }
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
    fn keeping_a_term_whose_plugins_failed_fires() {
        let failed = |running| Fact::PluginsFailed { who: who(1), epoch: Epoch(2), running };
        assert!(FailedPluginsHandOver.see(&failed(None)).is_ok());
        assert!(FailedPluginsHandOver.see(&failed(Some(Epoch(2)))).is_err());
    }
}

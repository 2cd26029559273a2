//! Health-gated candidacy: a leader whose plugins do not start, or fail too often, gives the
//! term up.

use crate::fact::Fact;

/// Looks at what runs right after the plugins failed.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    match fact {
        Fact::PluginsFailed { pid, epoch, running } if *running == Some(*epoch) => {
            Err(format!("node {} keeps epoch {epoch} although its plugins failed", pid.slot))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::pid;
    use baton_core::ids::Epoch;

    #[test]
    fn keeping_a_term_whose_plugins_failed_fires() {
        let failed = |running| Fact::PluginsFailed { pid: pid(1), epoch: Epoch(2), running };
        assert!(check(&failed(None)).is_ok());
        assert!(check(&failed(Some(Epoch(2)))).is_err());
    }
}

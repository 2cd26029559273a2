//! Rule 6 of the lease: a window that closed is never opened again for the same epoch.

use std::collections::BTreeMap;

use baton_core::ids::Epoch;

use crate::fact::{Fact, ProcessId};

/// Compares the window that is open in a process with the last one that was.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    // The term whose window was last open in each process, and whether it has closed since.
    let mut last: BTreeMap<ProcessId, (Epoch, bool)> = BTreeMap::new();
    move |fact: &Fact<'_>| {
        let Fact::Handled(pid, state) = fact else { return Ok(()) };
        let open = state.window.map(|(epoch, _)| epoch);
        match (last.get_mut(pid), open) {
            (Some((last, closed)), Some(epoch)) if *last == epoch && *closed => {
                Err(format!("node {} trusts epoch {epoch} again after its window closed", pid.slot))
            }
            (Some((_, closed)), None) => {
                *closed = true;
                Ok(())
            }
            (_, Some(epoch)) => {
                last.insert(*pid, (epoch, false));
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::ProcessState;
    use crate::invariants::testing::{idle, pid, window};

    #[test]
    fn a_window_that_opens_twice_fires() {
        let open = |epoch| ProcessState { window: Some((Epoch(epoch), window(10, 12))), ..idle(1) };
        let mut checker = check();
        assert!(checker(&Fact::Handled(pid(1), open(3))).is_ok());
        assert!(checker(&Fact::Handled(pid(1), idle(13))).is_ok());
        assert!(checker(&Fact::Handled(pid(1), open(3))).is_err());
        assert!(checker(&Fact::Handled(pid(1), open(4))).is_ok());
    }
}

//! S4: a term's work is told to stop at the soft deadline, as soon as its process runs at all.

use std::collections::BTreeMap;

use baton_core::lease::Window;

use crate::fact::{Fact, ProcessId};

/// Remembers each process's last window, because a closed one is not shown any more.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut windows: BTreeMap<ProcessId, Window> = BTreeMap::new();
    move |fact: &Fact<'_>| {
        let Fact::Handled(pid, state) = fact else { return Ok(()) };
        if let Some((_, window)) = state.window {
            windows.insert(*pid, window);
        }
        let Some(epoch) = state.running else { return Ok(()) };
        let late = windows.get(pid).is_none_or(|window| !window.may_start(state.local));
        if late {
            let local = state.local;
            return Err(format!(
                "node {} still runs epoch {epoch} at {local:?}, after its soft deadline",
                pid.slot
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::ProcessState;
    use crate::invariants::testing::{idle, pid, window};
    use baton_core::ids::Epoch;

    #[test]
    fn running_past_the_soft_deadline_fires() {
        let open = Some((Epoch(1), window(10, 12)));
        let running =
            |local, window| ProcessState { running: Some(Epoch(1)), window, ..idle(local) };
        let mut checker = check();
        assert!(checker(&Fact::Handled(pid(1), running(9, open))).is_ok());
        assert!(checker(&Fact::Handled(pid(1), running(10, open))).is_err());
        assert!(checker(&Fact::Handled(pid(1), running(13, None))).is_err());
    }
}

//! When faults are long over, nothing is written any more: partitions do not wander.

use std::time::Duration;

use crate::clock::TrueTime;
use crate::partitions::fact::Fact;

/// So long before the end of the calm nothing is written.
const STILL: Duration = Duration::from_secs(10);

/// Remembers when documents were last written.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut last = TrueTime::default();
    move |fact: &Fact<'_>| {
        match fact {
            Fact::Committed { at, .. } => last = *at,
            Fact::Calm(state) if state.now.since(last) < STILL => {
                return Err(format!("documents are still written at {last:?}"));
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partitions::fact::CalmState;
    use baton_core::ids::Epoch;
    use std::collections::BTreeMap;

    #[test]
    fn a_late_write_fires() {
        let calm = |check: &mut dyn FnMut(&Fact<'_>) -> Result<(), String>| {
            let now = TrueTime::from_micros(60_000_000);
            check(&Fact::Calm(&CalmState { lists: &[], running: BTreeMap::new(), now }))
        };
        let mut check = check();
        assert!(calm(&mut check).is_ok());
        let at = TrueTime::from_micros(55_000_000);
        assert!(check(&Fact::Committed { epoch: Epoch(1), at }).is_ok());
        assert!(calm(&mut check).is_err());
    }
}

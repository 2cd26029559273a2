//! The rules of the lease: every change of the record is one that the contract allows.

use std::collections::BTreeSet;

use baton_core::ids::Epoch;
use baton_store::ExpiryClock;

use crate::fact::{ChangeCause, Fact};

/// States each rule a second time, apart from the store's own code.
pub fn check(clock: ExpiryClock) -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut written = BTreeSet::new();
    move |fact: &Fact<'_>| {
        if let Fact::ViewStored(version) = fact {
            written.insert(version.epoch);
        }
        let Fact::LeaseChanged { before, after, expired, cause } = fact else { return Ok(()) };
        let Some(after) = after else {
            return Err("the record was deleted".to_owned());
        };
        let stored = before.map_or(Epoch::NONE, |lease| lease.version.epoch);
        let epoch = after.version.epoch;
        match cause {
            ChangeCause::Acquire { floor } => {
                let next = stored.max(*floor).next();
                let leapt = (epoch.0 - 1).checked_sub(stored.0).map(|ahead| ahead % Epoch::LEAP);
                let fenced = epoch.0.checked_sub(1).map(Epoch);
                let fenced = fenced.is_some_and(|below| written.contains(&below));
                if epoch != next && (epoch < next || (leapt != Some(0) && !fenced)) {
                    return Err(format!("epoch {epoch} was granted where {next} comes next"));
                }
            }
            ChangeCause::Renew if *expired && clock != ExpiryClock::Observer => {
                return Err(format!("epoch {epoch} was renewed after it expired"));
            }
            ChangeCause::Renew | ChangeCause::Release if epoch != stored => {
                return Err(format!("epoch {stored} became {epoch} without a new term"));
            }
            ChangeCause::Renew | ChangeCause::Release | ChangeCause::Rollback => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::lease;

    #[test]
    fn each_broken_rule_fires() {
        let (one, two, five) = (lease(1, 1, Some(1)), lease(2, 2, Some(2)), lease(5, 3, Some(3)));
        let mut checker = check(ExpiryClock::Store);
        let mut see = |before, after, expired, cause| {
            checker(&Fact::LeaseChanged { before, after, expired, cause }).is_ok()
        };
        let acquire = ChangeCause::Acquire { floor: Epoch::NONE };
        assert!(see(Some(&one), Some(&two), true, acquire));
        assert!(!see(Some(&one), Some(&five), true, acquire));
        assert!(see(Some(&one), Some(&one), false, ChangeCause::Renew));
        assert!(!see(Some(&one), Some(&one), true, ChangeCause::Renew));
        assert!(!see(Some(&one), Some(&two), false, ChangeCause::Release));
        assert!(!see(Some(&one), None, false, ChangeCause::Release));
    }
}

//! No write of a term lands after a later one was granted.

use baton_core::ids::Epoch;

use crate::schedules::commit::Author;
use crate::schedules::fact::Fact;

/// Compares the epoch of each write with the highest that was granted.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut granted = Epoch::NONE;
    move |fact: &Fact<'_>| {
        match fact {
            Fact::Granted(epoch) => granted = granted.max(*epoch),
            Fact::Committed(commit) => {
                if let Author::Leader { epoch, .. } = commit.author
                    && epoch < granted
                {
                    let page = commit.page;
                    return Err(format!(
                        "epoch {epoch} has written page {page} after {granted} was granted"
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::invariants::testing::{commit, entry, leader, schedule};

    #[test]
    fn a_write_of_an_older_term_fires() {
        let tick = schedule(|_| {});
        let before = entry(&tick);
        let mut checker = check();
        assert!(checker(&Fact::Granted(Epoch(1))).is_ok());
        assert!(commit(&mut checker, (&before, &before), leader(0)).is_ok());
        assert!(checker(&Fact::Granted(Epoch(2))).is_ok());
        assert!(commit(&mut checker, (&before, &before), leader(0)).is_err());
    }
}

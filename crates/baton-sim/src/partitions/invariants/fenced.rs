//! No document of an earlier term is written once the next one was granted.

use baton_core::ids::Epoch;

use crate::partitions::fact::Fact;

/// Remembers the epoch that was granted last.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut granted = Epoch::NONE;
    move |fact: &Fact<'_>| {
        match fact {
            Fact::Granted(epoch) => granted = *epoch,
            Fact::Committed { epoch, .. } if *epoch < granted => {
                return Err(format!("epoch {epoch} writes documents after {granted} was granted"));
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TrueTime;

    #[test]
    fn a_late_write_fires() {
        let at = TrueTime::default();
        let mut check = check();
        assert!(check(&Fact::Granted(Epoch(1))).is_ok());
        assert!(check(&Fact::Committed { epoch: Epoch(1), at }).is_ok());
        assert!(check(&Fact::Granted(Epoch(2))).is_ok());
        assert!(check(&Fact::Committed { epoch: Epoch(1), at }).is_err());
    }
}

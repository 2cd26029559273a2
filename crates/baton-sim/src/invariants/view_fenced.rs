//! S3: a view, like everything that carries an epoch, is refused once a later one exists.

use baton_core::protocol::ViewVersion;

use crate::fact::{ChangeCause, Fact};

/// Compares each view that is stored with the one that it replaces.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    // The last view that the store accepted.
    let mut last = ViewVersion::default();
    move |fact: &Fact<'_>| {
        match fact {
            Fact::ViewStored(version) => {
                if version.epoch < last.epoch {
                    return Err(format!("view {version:?} replaced the later {last:?}"));
                }
                last = *version;
            }
            // What a failover lost may be written again.
            Fact::LeaseChanged { cause: ChangeCause::Rollback, .. } => {
                last = ViewVersion::default();
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::ids::Epoch;

    #[test]
    fn a_view_of_an_earlier_epoch_fires() {
        let stored = |epoch, number| Fact::ViewStored(ViewVersion { epoch: Epoch(epoch), number });
        let mut checker = check();
        assert!(checker(&stored(2, 1)).is_ok());
        assert!(checker(&stored(2, 2)).is_ok());
        assert!(checker(&stored(1, 9)).is_err());
    }
}

//! The work of a partition starts only when all other work of it has ended, in whatever process.

use std::collections::BTreeMap;

use baton_core::ids::BootId;
use baton_core::partition::Partition;

use crate::partitions::fact::Fact;

/// Remembers who runs what.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut running: BTreeMap<Partition, BootId> = BTreeMap::new();
    move |fact: &Fact<'_>| {
        match fact {
            Fact::Started { boot, partition, .. } => {
                if let Some(other) = running.insert((*partition).clone(), *boot) {
                    return Err(format!("{boot:?} starts {partition} while {other:?} runs it"));
                }
            }
            Fact::Ended { boot, partition } if running.get(*partition) == Some(boot) => {
                running.remove(*partition);
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::partition::Token;

    #[test]
    fn a_second_owner_fires() {
        let partition = Partition { list: "a".parse().expect("a plain name"), number: 0 };
        let start = |boot| Fact::Started { boot, partition: &partition, token: Token::default() };
        let mut check = check();
        assert!(check(&start(BootId(1))).is_ok());
        assert!(check(&Fact::Ended { boot: BootId(1), partition: &partition }).is_ok());
        assert!(check(&start(BootId(2))).is_ok());
        assert!(check(&start(BootId(1))).is_err());
    }
}

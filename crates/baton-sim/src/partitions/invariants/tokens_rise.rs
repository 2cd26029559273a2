//! Whoever starts a partition has a higher token than all that started it before.

use std::collections::BTreeMap;

use baton_core::partition::{Partition, Token};

use crate::partitions::fact::Fact;

/// Remembers the last token of each partition.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut last: BTreeMap<Partition, Token> = BTreeMap::new();
    move |fact: &Fact<'_>| {
        let Fact::Started { boot, partition, token } = fact else { return Ok(()) };
        match last.insert((*partition).clone(), *token) {
            Some(before) if before >= *token => Err(format!(
                "{boot:?} starts {partition} with {token:?} after a start with {before:?}"
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::ids::BootId;

    #[test]
    fn a_token_that_comes_again_fires() {
        let partition = Partition { list: "a".parse().expect("a plain name"), number: 0 };
        let start =
            |token| Fact::Started { boot: BootId(1), partition: &partition, token: Token(token) };
        let mut check = check();
        assert!(check(&start(1)).is_ok());
        assert!(check(&start(3)).is_ok());
        assert!(check(&start(3)).is_err());
    }
}

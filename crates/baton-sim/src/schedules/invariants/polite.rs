//! A scheduler that has nothing to do is not woken again at once, which would be a tight loop; and
//! it has one request for a page under way at most, since answers may come in any order.

use crate::schedules::fact::Fact;

/// Looks at when schedulers want to be woken, and what they ask for.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    match fact {
        Fact::WokenInVain(epoch) => Err(format!(
            "the scheduler of epoch {epoch} is woken again and again, and does nothing"
        )),
        Fact::AskedTwice { epoch, page } => Err(format!(
            "the scheduler of epoch {epoch} asks for page {page} while a request for it is under \
             way"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::ids::Epoch;

    #[test]
    fn a_scheduler_that_is_woken_for_nothing_fires() {
        assert!(check(&Fact::Granted(Epoch(1))).is_ok());
        assert!(check(&Fact::WokenInVain(Epoch(1))).is_err());
        assert!(check(&Fact::AskedTwice { epoch: Epoch(1), page: 0 }).is_err());
    }
}

//! The mandate: how long a term is protected from challenge, and when it must be confirmed.

use std::time::Duration;

use crate::ids::NodeId;
use crate::planted::planted;
use crate::settings::{Preempt, Settings};
use crate::time::Moment;

/// What a look at the mandate came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MandateReview {
    /// The term goes on.
    Keep,
    /// The term was confirmed for another maximum duration.
    Renewed,
    /// A better node is there and the mandate no longer protects the term.
    YieldTo(NodeId),
}

/// When the term began, and when it was last confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mandate {
    pub(super) began: Moment,
    confirmed: Moment,
}

impl Mandate {
    /// A term that begins now.
    pub fn begin(now: Moment) -> Self {
        Self { began: now, confirmed: now }
    }

    /// Looks at the mandate. `better` is the node the policy prefers to this one, if any.
    pub fn review(
        &mut self,
        now: Moment,
        settings: &Settings,
        better: Option<NodeId>,
    ) -> MandateReview {
        let protected: Duration =
            if planted!(MandateIgnored) { Duration::ZERO } else { settings.min_epoch_duration };
        let challenged = settings.preempt == Preempt::AfterMandate;
        match better {
            Some(node) if challenged && now.since(self.began) >= protected => {
                MandateReview::YieldTo(node)
            }
            _ if now.since(self.confirmed) >= settings.max_epoch_duration => {
                self.confirmed = now;
                MandateReview::Renewed
            }
            _ => MandateReview::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::from_micros(seconds * 1_000_000)
    }

    fn better() -> Option<NodeId> {
        Some(NodeId::new("a").expect("valid"))
    }

    #[test]
    fn a_better_node_waits_for_the_minimum_and_only_if_preemption_is_on() {
        let never = Settings::default();
        let after = Settings { preempt: Preempt::AfterMandate, ..Settings::default() };
        let mut mandate = Mandate::begin(at(0));
        assert_eq!(mandate.review(at(59), &after, better()), MandateReview::Keep);
        assert_eq!(mandate.review(at(61), &never, better()), MandateReview::Keep);
        let yielded = MandateReview::YieldTo(better().expect("given"));
        assert_eq!(mandate.review(at(60), &after, better()), yielded);
    }

    #[test]
    fn the_mandate_is_confirmed_at_each_maximum() {
        let settings = Settings::default();
        let mut mandate = Mandate::begin(at(0));
        assert_eq!(mandate.review(at(299), &settings, None), MandateReview::Keep);
        assert_eq!(mandate.review(at(300), &settings, None), MandateReview::Renewed);
        assert_eq!(mandate.review(at(301), &settings, None), MandateReview::Keep);
        assert_eq!(mandate.review(at(600), &settings, None), MandateReview::Renewed);
    }
}

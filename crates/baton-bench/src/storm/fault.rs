//! What a seed stands for: one fault after another.

use std::time::Duration;

use baton_core::rng::Rng;

/// What happens to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// kill -9, started again after a while.
    Kill,
    /// SIGTERM, started again after a while.
    Term,
    /// SIGSTOP for less than a lease.
    ShortPause,
    /// SIGSTOP for more than a lease.
    LongPause,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Kill, Self::Term, Self::ShortPause, Self::LongPause];
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub kind: Kind,
    /// Does it strike whoever leads, or anybody?
    pub at_leader: bool,
    /// Which of those it may strike, modulo their number.
    pub pick: u64,
    /// After how long the process goes on or is started again.
    pub lasts: Duration,
    /// After how long the next fault comes.
    pub then: Duration,
}

impl Fault {
    /// The next fault.
    pub fn draw(rng: &mut Rng) -> Self {
        let ms = Duration::from_millis;
        let kind = Kind::ALL[rng.below(4) as usize];
        let lasts = match kind {
            Kind::Kill | Kind::Term => rng.span(ms(10), ms(2_000)),
            Kind::ShortPause => rng.span(ms(50), ms(2_500)),
            Kind::LongPause => rng.span(ms(3_300), ms(7_000)),
        };
        let (at_leader, pick) = (rng.one_in(2), rng.bits());
        Self { kind, at_leader, pick, lasts, then: rng.span(ms(50), ms(1_200)) }
    }
}

#[cfg(test)]
mod tests {
    use baton_core::settings::Profile;

    use super::*;

    #[test]
    fn a_seed_determines_its_faults_and_every_kind_comes() {
        let drawn = |seed| {
            let mut rng = Rng::new(seed);
            (0..200).map(|_| Fault::draw(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        for kind in Kind::ALL {
            assert!(drawn(7).iter().any(|fault| fault.kind == kind), "{kind:?}");
        }
    }

    #[test]
    fn pauses_are_clearly_shorter_or_longer_than_the_lease() {
        let lease = Profile::Fast.settings().lease_timeout;
        let mut rng = Rng::new(1);
        for fault in (0..1_000).map(|_| Fault::draw(&mut rng)) {
            match fault.kind {
                Kind::ShortPause => assert!(fault.lasts < lease),
                Kind::LongPause => assert!(fault.lasts > lease),
                Kind::Kill | Kind::Term => {}
            }
        }
    }
}

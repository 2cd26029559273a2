//! Simulated clocks. Each process, and the store, has one: an offset that never matters and a rate
//! that is off by a little. True time is known to the simulator alone.

use std::time::Duration;

use baton_core::time::Moment;

/// True time, in the same unit as a local reading. Never handed to a core.
pub type TrueTime = Moment;

/// A clock that runs a little fast or slow.
#[derive(Clone, Debug)]
pub struct SimClock {
    true_anchor: u64,
    local_anchor: u64,
    ppm: i64,
}

impl SimClock {
    /// A clock that read `offset` when true time began, and runs `ppm` parts per million fast.
    pub fn new(offset: Duration, ppm: i64) -> Self {
        let local_anchor = (Moment::from_micros(0) + offset).as_micros();
        Self { true_anchor: 0, local_anchor, ppm }
    }

    /// What it reads at a true time.
    pub fn read(&self, at: TrueTime) -> Moment {
        let passed = u128::from(at.as_micros().saturating_sub(self.true_anchor));
        let local = passed * self.rate() / 1_000_000;
        Moment::from_micros(self.local_anchor + local as u64)
    }

    /// The first true time at which it reads `local` or later.
    pub fn when(&self, local: Moment) -> TrueTime {
        let ahead = u128::from(local.as_micros().saturating_sub(self.local_anchor));
        let passed = (ahead * 1_000_000).div_ceil(self.rate());
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        Moment::from_micros(self.true_anchor.saturating_add(passed))
    }

    /// Runs at another rate from now on.
    pub fn set_rate(&mut self, at: TrueTime, ppm: i64) {
        self.local_anchor = self.read(at).as_micros();
        self.true_anchor = at.as_micros();
        self.ppm = ppm;
    }

    /// Goes on at `to` from what it read at `from`: it stood still in between.
    pub fn stood_still(&mut self, from: TrueTime, to: TrueTime) {
        self.local_anchor = self.read(from).as_micros();
        self.true_anchor = to.as_micros();
    }

    /// Jumps forward. Only beyond what is promised.
    pub fn step_forward(&mut self, at: TrueTime, by: Duration) {
        self.set_rate(at, self.ppm);
        self.local_anchor = (Moment::from_micros(self.local_anchor) + by).as_micros();
    }

    fn rate(&self) -> u128 {
        (1_000_000 + self.ppm).unsigned_abs().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_waiting_agree_through_changes_of_rate() {
        let mut clock = SimClock::new(Duration::from_secs(99), 5_000);
        let one = Moment::from_micros(1_000_000);
        assert_eq!(clock.read(one), Moment::from_micros(100_005_000));
        clock.set_rate(one, -5_000);
        let two = Moment::from_micros(2_000_000);
        assert_eq!(clock.read(two), Moment::from_micros(101_000_000));
        assert_eq!(clock.when(clock.read(two)), two);
        clock.step_forward(two, Duration::from_secs(1));
        assert_eq!(clock.read(two), Moment::from_micros(102_000_000));
        let three = Moment::from_micros(3_000_000);
        clock.stood_still(two, three);
        assert_eq!(clock.read(three), Moment::from_micros(102_000_000));
    }
}

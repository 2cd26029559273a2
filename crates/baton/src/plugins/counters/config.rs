//! How counting goes: the writer's side, and the leader's.

use std::time::Duration;

/// The longest that an append may be repeated for. Stores keep the numbers of writers for longer.
pub(super) const DEADLINE_MAX: Duration = Duration::from_secs(600);

/// How a handle counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountersConfig {
    /// How long changes are gathered before they are appended together. None at all still takes
    /// together whatever waits while an append is under way.
    pub linger: Duration,
    /// How long an append that was not answered, or not taken, is tried again. At most ten minutes.
    pub deadline: Duration,
    /// The largest number of counters in one append. A store takes at most 1,000.
    pub append_max: usize,
}

impl Default for CountersConfig {
    fn default() -> Self {
        Self {
            linger: Duration::from_millis(2),
            deadline: Duration::from_secs(30),
            append_max: baton_store::APPEND_MAX,
        }
    }
}

impl CountersConfig {
    /// The same, with some changed.
    #[must_use]
    pub fn tune(mut self, tune: impl FnOnce(&mut Self)) -> Self {
        tune(&mut self);
        self
    }

    /// The same, within the bounds of what a store takes.
    pub(super) fn bounded(self) -> Self {
        Self {
            deadline: self.deadline.min(DEADLINE_MAX),
            append_max: self.append_max.clamp(1, baton_store::APPEND_MAX),
            ..self
        }
    }
}

/// How the leader consolidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginConfig {
    /// From one consolidation to the next.
    pub every: Duration,
    /// How often the leader looks whether one was asked for: one read of a document.
    pub look_every: Duration,
    /// The largest number of changes in one step, so that no step takes long.
    pub step_max: u32,
    /// How long a silent writer is remembered. Raised to twice the ten minutes that an append may
    /// be repeated for, if it is less.
    pub keep_writers: Duration,
}

impl Default for PluginConfig {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(60),
            look_every: Duration::from_secs(1),
            step_max: 1_000,
            keep_writers: Duration::from_secs(3_600),
        }
    }
}

impl PluginConfig {
    /// The same, with some changed.
    #[must_use]
    pub fn tune(mut self, tune: impl FnOnce(&mut Self)) -> Self {
        tune(&mut self);
        self
    }

    /// The same, within bounds that keep every promise.
    pub(super) fn bounded(self) -> Self {
        Self {
            step_max: self.step_max.max(1),
            keep_writers: self.keep_writers.max(2 * DEADLINE_MAX),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_setting_lets_a_number_be_forgotten_while_it_may_be_repeated() {
        let hour = Duration::from_secs(3_600);
        let writer = CountersConfig { deadline: hour, append_max: 9_000, ..Default::default() };
        let plugin =
            PluginConfig { keep_writers: Duration::ZERO, step_max: 0, ..Default::default() };
        let (writer, plugin) = (writer.bounded(), plugin.bounded());
        assert!(plugin.keep_writers > writer.deadline);
        assert_eq!((writer.append_max, plugin.step_max), (1_000, 1));
    }
}

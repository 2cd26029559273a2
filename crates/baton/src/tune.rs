//! Settings that grow: a struct expression cannot make them, so each can be changed by a closure.

/// Gives each of these types its `tune`.
macro_rules! tunable {
    ($($settings:ty),+) => {
        $(impl $settings {
            /// The same, with some changed.
            #[must_use]
            pub fn tune(mut self, tune: impl FnOnce(&mut Self)) -> Self {
                tune(&mut self);
                self
            }
        })+
    };
}

tunable!(
    crate::LifelineConfig,
    crate::RestartPolicy,
    crate::plugins::counters::CountersConfig,
    crate::plugins::counters::PluginConfig,
    crate::plugins::polls::Poll
);

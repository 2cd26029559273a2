//! How long something was silent, where the store has no clock to ask: what a handle saw itself,
//! from one look to another and by its own clock. So no two machines' clocks are compared, and a
//! new leader begins to watch anew.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::time::Moment;

/// The values as last seen, and since when each is known to be what it is.
#[derive(Debug)]
pub(crate) struct Unchanged<K, V>(BTreeMap<K, (V, Moment)>);

impl<K: Ord, V> Default for Unchanged<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Clone, V: PartialEq + Copy> Unchanged<K, V> {
    /// Takes in the values that there are now, and returns those that have not changed for this
    /// long. What is not there any more is not watched any more.
    pub(crate) fn look(
        &mut self,
        now: Moment,
        present: impl IntoIterator<Item = (K, V)>,
        unchanged_for: Duration,
    ) -> Vec<(K, V)> {
        let known = std::mem::take(&mut self.0);
        let since = |(key, value): (K, V)| match known.get(&key) {
            Some((before, since)) if *before == value => (key, (value, *since)),
            _ => (key, (value, now)),
        };
        self.0 = present.into_iter().map(since).collect();
        let unchanged = self.0.iter().filter(|(_, (_, since))| now.since(*since) >= unchanged_for);
        unchanged.map(|(key, (value, _))| (key.clone(), *value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_counted_from_when_it_was_first_seen() {
        let second = Duration::from_secs(1);
        let start = Moment::from_micros(1_000_000_000);
        let mut watched = Unchanged::default();
        assert_eq!(watched.look(start, [("a", 1), ("b", 1)], second), []);
        let seen = [("a", 1), ("b", 2), ("c", 1)];
        assert_eq!(watched.look(start + second, seen, second), [("a", 1)]);
        let later = start + second * 2;
        assert_eq!(watched.look(later, [("b", 2), ("c", 1)], second), [("b", 2), ("c", 1)]);
        assert_eq!(watched.look(later, [("a", 1)], second), [], "what was gone is watched anew");
    }
}

//! Counters by name that any thread may add to without a lock.

use std::sync::OnceLock;

/// How many names have a place of their own.
const PLACES: usize = 64;

/// What names beyond the places are counted under.
const REST: &str = "other";

/// One `T` a name. A name takes its place when it is first met and keeps it: after that, adding to
/// it costs no more than the `T` does. Names are few and known to the program, so finding one among
/// the places is a short walk.
pub struct CountsByName<T> {
    places: [(OnceLock<&'static str>, T); PLACES],
    rest: T,
}

impl<T: Default> Default for CountsByName<T> {
    fn default() -> Self {
        Self { places: std::array::from_fn(|_| Default::default()), rest: T::default() }
    }
}

impl<T> CountsByName<T> {
    /// What is counted under this name.
    pub fn of(&self, name: &'static str) -> &T {
        let place = self.places.iter().find(|(taken, _)| *taken.get_or_init(|| name) == name);
        place.map_or(&self.rest, |(_, counted)| counted)
    }

    /// Every name that was met, in the order in which they were, and what is counted under it.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &T)> {
        let full = self.places.last().is_some_and(|(taken, _)| taken.get().is_some());
        let rest = full.then_some((REST, &self.rest));
        let met = self.places.iter().filter_map(|(name, counted)| Some((*name.get()?, counted)));
        met.chain(rest)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn read(counts: &CountsByName<AtomicU64>) -> Vec<(&'static str, u64)> {
        counts.iter().map(|(name, count)| (name, count.load(Ordering::Relaxed))).collect()
    }

    #[test]
    fn threads_that_meet_names_at_once_lose_no_count() {
        let counts = CountsByName::<AtomicU64>::default();
        let names = ["a", "b", "c", "d"];
        std::thread::scope(|scope| {
            for first in 0..4 {
                let counts = &counts;
                scope.spawn(move || {
                    for step in 0..1_000 {
                        let name = names[(first + step) % names.len()];
                        counts.of(name).fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let mut counted = read(&counts);
        counted.sort_unstable();
        assert_eq!(counted, names.map(|name| (name, 1_000)));
    }

    #[test]
    fn names_beyond_the_places_are_counted_together() {
        let counts = CountsByName::<AtomicU64>::default();
        for number in 0..PLACES + 2 {
            let name: &'static str = Box::leak(number.to_string().into_boxed_str());
            counts.of(name).fetch_add(1, Ordering::Relaxed);
        }
        let counted = read(&counts);
        assert_eq!(counted.len(), PLACES + 1);
        assert_eq!(counted.last(), Some(&(REST, 2)));
    }
}

//! The states that were visited: fingerprints, and how each was first reached.

use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// Two hashes that start from different keys. Among 10⁷ states, two that differ share all 128 bits
/// with a chance of about 10⁻²⁵.
pub fn fingerprint(value: &impl Hash) -> u128 {
    let mut bytes = Bytes(Vec::with_capacity(2_048));
    value.hash(&mut bytes);
    let half = |key: u64| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(key);
        hasher.write(&bytes.0);
        u128::from(hasher.finish())
    };
    (half(0x6261_746f) << 64) | half(0x7374_6174)
}

/// Collects what a value tells of itself: one long text is hashed faster than many short ones.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Never asked for: the bytes are what is wanted.
    fn finish(&self) -> u64 {
        self.0.len() as u64
    }
}

/// The states by their fingerprints, and by which step from which state each was first reached.
pub struct Visited<S> {
    #[expect(clippy::disallowed_types, reason = "its keys are not random, and it is never walked")]
    seen: std::collections::HashSet<u128, BuildHasherDefault<DefaultHasher>>,
    reached: Vec<(u32, S)>,
}

impl<S: Copy> Visited<S> {
    /// Only the first state is there; it was reached from itself, by a step that is in no path.
    pub fn new(first: u128, by: S) -> Self {
        let mut visited = Self { seen: Default::default(), reached: Vec::new() };
        visited.insert(first, 0, by);
        visited
    }

    /// Was it visited?
    pub fn knows(&self, fingerprint: u128) -> bool {
        self.seen.contains(&fingerprint)
    }

    /// Adds a state. Its number if it is new.
    pub fn insert(&mut self, fingerprint: u128, from: u32, by: S) -> Option<u32> {
        if !self.seen.insert(fingerprint) {
            return None;
        }
        let number = self.reached.len() as u32;
        self.reached.push((from, by));
        Some(number)
    }

    /// The steps from the first state to this one.
    pub fn path(&self, mut number: u32) -> Vec<S> {
        let mut steps = Vec::new();
        while number != 0 {
            let (from, by) = self.reached[number as usize];
            steps.push(by);
            number = from;
        }
        steps.reverse();
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exhaustive::step::Step;

    #[test]
    fn a_state_is_new_once_and_its_path_leads_to_it() {
        let mut visited = Visited::new(fingerprint(&0_u64), Step::Tick);
        for n in 1..10_000_u64 {
            let by = if n % 2 == 0 { Step::Tick } else { Step::Pause(1) };
            assert_eq!(visited.insert(fingerprint(&n), n as u32 - 1, by), Some(n as u32));
        }
        assert_eq!(visited.insert(fingerprint(&77_u64), 0, Step::Tick), None);
        assert_eq!(visited.reached.len(), 10_000);
        assert_eq!(visited.path(3), [Step::Pause(1), Step::Tick, Step::Pause(1)]);
    }
}

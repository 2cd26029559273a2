//! What goes wrong in a world. A campaign in which one of its faults never happened has failed.

use std::collections::BTreeMap;

/// A fault by its name.
pub trait FaultName: Copy + Ord + Send + 'static {
    /// Every fault of the world.
    const ALL: &'static [Self];

    /// Its name in reports.
    fn name(self) -> &'static str;
}

/// Defines the faults of a world.
macro_rules! faults {
    ($($name:ident = $text:literal: $doc:literal,)*) => {
        /// Something that goes wrong, or that people do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault { $(#[doc = $doc] $name,)* }

        impl $crate::scripted::FaultName for Fault {
            const ALL: &'static [Self] = &[$(Self::$name,)*];

            fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

pub(crate) use faults;

/// How often each fault happened.
#[derive(Clone, Debug)]
pub struct FaultCounts<F>(BTreeMap<F, u64>);

impl<F> Default for FaultCounts<F> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<F: FaultName> FaultCounts<F> {
    /// It happened.
    pub fn count(&mut self, fault: F) {
        *self.0.entry(fault).or_default() += 1;
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        for (fault, count) in &other.0 {
            *self.0.entry(*fault).or_default() += count;
        }
    }

    /// Every fault with its count.
    pub fn all(&self) -> impl Iterator<Item = (F, u64)> {
        F::ALL.iter().map(|fault| (*fault, self.0.get(fault).copied().unwrap_or(0)))
    }
}

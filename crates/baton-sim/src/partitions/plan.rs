//! What a seed stands for: machines, task lists, faults, and how often they come.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use baton_core::lease::LeaseTerms;
use baton_core::partition::coordinator::MoveSettings;
use baton_core::rng::Rng;

use super::fault::Fault;
use crate::scripted::FaultName;

/// One run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub machines: usize,
    /// How many partitions the first task lists have.
    pub lists: Vec<u32>,
    pub lease: LeaseTerms,
    pub settings: MoveSettings,
    /// Does the store say how old records are?
    pub has_ages: bool,
    /// How long faults go on.
    pub storm: Duration,
    pub faults: BTreeSet<Fault>,
    /// One request in this many meets a fault of its own.
    pub request_fault_one_in: u64,
    /// The slowest ordinary message, one way.
    pub latency: Duration,
    /// How long a term lasts, about.
    pub term: Duration,
    /// The time between two disturbances of a machine, about.
    pub disturb_every: Duration,
    pub outage_every: Duration,
    pub people_every: Duration,
    /// The longest time that work takes to stop, but for the slow ones.
    pub stop_time: Duration,
}

impl Plan {
    /// The plan of a seed.
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x9a27_1710_5000);
        let ms = Duration::from_millis;
        let ttl = ms([1_500, 3_000, 6_000][rng.below(3) as usize]);
        let lease = LeaseTerms {
            ttl,
            drift_ppm: 10_000,
            margin: ttl / 60,
            stop_grace: ttl / [5, 20][rng.below(2) as usize],
        };
        let settings = MoveSettings {
            restart_delay: ms([0, 0, 3_000][rng.below(3) as usize]),
            ..MoveSettings::default()
        };
        let lists = (0..rng.between(1, 3)).map(|_| rng.between(1, 8) as u32).collect();
        let mut every = |least: u64, most: u64| ms(rng.between(least, most));
        let (term, disturb_every) = (every(2_000, 25_000), every(1_500, 12_000));
        let (outage_every, people_every) = (every(8_000, 40_000), every(3_000, 20_000));
        Self {
            seed,
            machines: rng.between(2, 5) as usize,
            lists,
            lease,
            settings,
            has_ages: rng.one_in(2),
            storm: Duration::from_secs(rng.between(20, 70)),
            faults: Fault::ALL.iter().copied().filter(|_| !rng.one_in(3)).collect(),
            request_fault_one_in: [4, 10, 30, 100][rng.below(4) as usize],
            // A round trip stays well below the time that a request may take.
            latency: ms([2, 10, 60, 250][rng.below(4) as usize]).min(ttl / 16),
            term,
            disturb_every,
            outage_every,
            people_every,
            stop_time: ms([5, 100, 600][rng.below(3) as usize]),
        }
    }

    /// Does this run include the fault?
    pub fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// The time between two beats.
    pub fn beat(&self) -> Duration {
        self.lease.ttl / 6
    }

    /// After this time without an answer a request is given up.
    pub fn request_timeout(&self) -> Duration {
        self.lease.ttl / 4
    }

    /// How long there are no faults afterwards: what the storm left is over within two spans of
    /// silence, and what is then moved within some rounds.
    pub fn calm(&self) -> Duration {
        self.lease.ttl * 5 + self.settings.restart_delay + Duration::from_secs(30)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<&str> = self.faults.iter().map(|fault| fault.name()).collect();
        writeln!(f, "{} machines, lists of {:?} partitions", self.machines, self.lists)?;
        writeln!(
            f,
            "ttl {:?}, {:?} of storm, {:?} of calm",
            self.lease.ttl,
            self.storm,
            self.calm()
        )?;
        writeln!(f, "term {:?}, disturbed every {:?}", self.term, self.disturb_every)?;
        writeln!(f, "latency {:?}, work stops in {:?}", self.latency, self.stop_time)?;
        writeln!(f, "restart delay {:?}", self.settings.restart_delay)?;
        writeln!(f, "faults: {}", faults.join(", "))
    }
}

//! What a seed stands for: schedules, their changes, nodes, faults, and when in the year it is.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use baton_core::rng::Rng;
use baton_core::schedule::{Daylight, Definition, Misfire, OnCrash, Overlap};

use baton_core::schedule::page::ENTRIES_MAX;

use super::fault::Fault;
use super::zones::CHANGING;
use crate::scripted::FaultName;

/// Changes of the clock, in Unix seconds, with the index of the zone and the hour that is skipped
/// or comes twice.
const CHANGES: [(u64, usize, u32); 4] = [
    (1_792_890_000, 0, 2), // 2026-10-25T01:00:00Z, back
    (1_806_195_600, 0, 2), // 2027-03-28T01:00:00Z, forward
    (1_793_512_800, 1, 1), // 2026-11-01T06:00:00Z, back
    (1_805_007_600, 1, 2), // 2027-03-14T07:00:00Z, forward
];

/// One run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub nodes: usize,
    /// The wall-clock time at which it begins, in Unix milliseconds.
    pub start_ms: u64,
    /// Does a zone's clock change during the run?
    pub has_clock_change: bool,
    /// How long faults go on.
    pub storm: Duration,
    /// How long there are none afterwards.
    pub calm: Duration,
    pub faults: BTreeSet<Fault>,
    /// One request in this many meets a fault of its own.
    pub request_fault_one_in: u64,
    /// The slowest ordinary message, one way.
    pub latency: Duration,
    /// How long a term lasts, about.
    pub term: Duration,
    /// The time between two edits, deploys, steps of a clock, outages, about.
    pub edit_every: Duration,
    pub deploy_every: Duration,
    pub step_every: Duration,
    pub outage_every: Duration,
    /// The longest time by which a wall clock is wrong.
    pub wall_error: Duration,
    /// One run in this many fails.
    pub failure_one_in: u64,
    /// How long a run takes, about.
    pub run_time: Duration,
    /// The sets of schedules that are deployed one after another.
    pub versions: Vec<Vec<Definition>>,
}

impl Plan {
    /// The plan of a seed.
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x5c4e_d01e_5000);
        let has_clock_change = rng.one_in(3);
        let change = CHANGES[rng.below(4) as usize];
        let (start_s, storm) = match has_clock_change {
            true => (change.0 - rng.between(240, 420), Duration::from_secs(65 * 60)),
            false => {
                let storm = Duration::from_secs(rng.between(60, 360));
                (1_780_000_000 + rng.below(20_000_000), storm)
            }
        };
        // In the long runs everything happens less often.
        let slower = if has_clock_change { 6 } else { 1 };
        let mut every =
            |least: u64, most: u64| Duration::from_secs(rng.between(least, most)) * slower;
        let (term, edit_every, deploy_every) = (every(6, 60), every(3, 30), every(15, 120));
        let (step_every, outage_every) = (every(10, 60), every(15, 90));
        let faults = Fault::ALL.iter().copied().filter(|_| !rng.one_in(3)).collect();
        let versions = Drawing { rng: rng.fork(1), slow: has_clock_change, change }.versions();
        Self {
            seed,
            nodes: rng.between(2, 4) as usize,
            start_ms: start_s * 1_000 + rng.below(1_000),
            has_clock_change,
            storm,
            calm: Duration::from_secs(60),
            faults,
            request_fault_one_in: [4, 12, 40, 120][rng.below(4) as usize],
            latency: Duration::from_millis([2, 10, 60, 250][rng.below(4) as usize]),
            term,
            edit_every,
            deploy_every,
            step_every,
            outage_every,
            wall_error: Duration::from_millis([20, 500, 4_000, 40_000][rng.below(4) as usize]),
            failure_one_in: [2, 5, 20][rng.below(3) as usize],
            run_time: Duration::from_millis([20, 400, 3_000, 12_000][rng.below(4) as usize]),
            versions,
        }
    }

    /// Does this run include the fault?
    pub fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<&str> = self.faults.iter().map(|fault| fault.name()).collect();
        writeln!(f, "{} nodes, from {} ms on", self.nodes, self.start_ms)?;
        writeln!(f, "{:?} of storm, {:?} of calm", self.storm, self.calm)?;
        writeln!(f, "term {:?}, run {:?}, latency {:?}", self.term, self.run_time, self.latency)?;
        writeln!(f, "wall clocks wrong by up to {:?}", self.wall_error)?;
        writeln!(f, "faults: {}", faults.join(", "))?;
        for (number, version) in self.versions.iter().enumerate() {
            writeln!(f, "version {number}:")?;
            let mut shown = version.iter().take(10);
            shown.try_for_each(|it| {
                let json = serde_json::to_string(it).expect("plain data");
                writeln!(f, "  {json}")
            })?;
        }
        Ok(())
    }
}

/// Draws schedules.
struct Drawing {
    rng: Rng,
    /// Are there no schedules of every few seconds?
    slow: bool,
    change: (u64, usize, u32),
}

impl Drawing {
    /// The sets that are deployed: each is the one before it with changes, or an earlier one again.
    fn versions(&mut self) -> Vec<Vec<Definition>> {
        // Now and then so many that there are two pages.
        let many = self.rng.one_in(10);
        let full = ENTRIES_MAX as u64;
        let count = if many { self.rng.between(full, full + 6) } else { self.rng.between(1, 6) };
        let first = (0..count).map(|number| self.definition(number, many)).collect();
        let mut versions: Vec<Vec<Definition>> = vec![first];
        for number in 0..self.rng.between(0, 4) {
            let mut next = match self.rng.one_in(4) {
                true => versions[0].clone(),
                false => versions[versions.len() - 1].clone(),
            };
            for definition in &mut next {
                if self.rng.one_in(if many { 12 } else { 3 }) {
                    self.change(definition);
                }
            }
            next.retain(|_| !self.rng.one_in(if many { 30 } else { 5 }));
            if self.rng.one_in(2) {
                next.push(self.definition(100 + number, many));
            }
            versions.push(next);
        }
        versions
    }

    fn definition(&mut self, number: u64, many: bool) -> Definition {
        let rng = &mut self.rng;
        let mut it = Definition::new(format!("s{number}"), "@every 1s");
        it.overlap = [Overlap::Allow, Overlap::Skip, Overlap::Queue, Overlap::Replace]
            [rng.below(4) as usize];
        it.on_crash = [OnCrash::Retry, OnCrash::Skip][rng.below(2) as usize];
        it.jitter_ms = [0, 0, 0, 700, 5_000][rng.below(5) as usize];
        it.grace_ms = [0, 500, 2_000, 60_000][rng.below(4) as usize];
        it.timeout_ms = [0, 2_000, 8_000][rng.below(3) as usize];
        it.retries = [0, 0, 1, 3][rng.below(4) as usize];
        self.set_misfire(&mut it);
        self.set_times(&mut it, many);
        it
    }

    fn set_misfire(&mut self, it: &mut Definition) {
        let rng = &mut self.rng;
        let cap = rng.between(1, 6) as u32;
        let age_ms = [3_000, 60_000, 3_600_000][rng.below(3) as usize];
        it.misfire =
            [Misfire::Skip, Misfire::Once, Misfire::CatchUp { cap, age_ms }][rng.below(3) as usize];
    }

    fn set_times(&mut self, it: &mut Definition, many: bool) {
        let rng = &mut self.rng;
        if self.slow && rng.one_in(2) {
            // Around the change: at a time of the hour that is skipped or comes twice.
            let (_, zone, hour) = self.change;
            it.tz = CHANGING[zone].to_owned();
            it.daylight =
                [None, Some(Daylight::Once), Some(Daylight::Elapsed)][rng.below(3) as usize];
            it.cron = match rng.below(3) {
                0 => format!("{} {hour} * * *", rng.between(54, 59)),
                1 => format!("*/5 {hour} * * *"),
                _ => "*/4 * * * *".to_owned(),
            };
            return;
        }
        let seconds: &[u64] = match (self.slow, many) {
            (true, _) => &[45, 90, 300],
            (_, true) => &[20, 60, 90],
            _ => &[1, 1, 2, 5, 10, 30],
        };
        let every = seconds[rng.below(seconds.len() as u64) as usize];
        it.cron = match every {
            1..=30 if rng.one_in(2) => format!("*/{every} * * * * *"),
            _ => format!("@every {every}s"),
        };
        if rng.one_in(4) && !it.cron.starts_with('@') {
            it.tz = CHANGING[rng.below(2) as usize].to_owned();
        }
    }

    fn change(&mut self, it: &mut Definition) {
        let other = self.definition(0, false);
        match self.rng.below(4) {
            0 => self.set_misfire(it),
            1 => it.overlap = other.overlap,
            2 => it.on_crash = other.on_crash,
            _ => self.set_times(it, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::zones::resolve;

    #[test]
    fn definitions_are_valid_and_policies_all_come() {
        let plans: Vec<Plan> = (0..300).map(Plan::draw).collect();
        let all = plans.iter().flat_map(|plan| plan.versions.iter().flatten());
        let all: Vec<&Definition> = all.collect();
        assert!(all.iter().all(|it| resolve(it).definition == **it));
        for overlap in [Overlap::Allow, Overlap::Skip, Overlap::Queue, Overlap::Replace] {
            assert!(all.iter().any(|it| it.overlap == overlap));
        }
        let two_pages = plans.iter().filter(|plan| plan.versions[0].len() >= ENTRIES_MAX).count();
        assert!((5..60).contains(&two_pages), "{two_pages}");
    }
}

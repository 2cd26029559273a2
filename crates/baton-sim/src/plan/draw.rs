//! Draws a plan from its seed.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::rng::Rng;
use baton_core::settings::{Policy, Preempt, Profile, Settings};
use baton_store::ExpiryClock;

use super::{FailoverLoss, Fault, Latency, Plan};

/// Faults that came to be known after the first seeds were kept. Each has a number that sets its
/// draw apart from all others, so that no kept seed has it: each still means what it meant.
const LATER: [(Fault, u64); 5] = [
    (Fault::WorkFails, 3 << 32),
    (Fault::Freeze, 31 << 32),
    (Fault::FirewallRefuses, 53 << 32),
    (Fault::FirewallResets, 48 << 32),
    (Fault::HintFlood, 57 << 32),
];

impl Plan {
    /// The plan of a seed. The same seed gives the same plan for ever.
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let settings = draw_settings(&mut rng);
        let nodes = [2, 3, 3, 4, 5, 5, 7, 9][rng.below(8) as usize];
        let ineligible = if rng.one_in(4) { BTreeSet::from([nodes - 1]) } else { BTreeSet::new() };
        let expiry = [ExpiryClock::Store, ExpiryClock::StoreLease, ExpiryClock::Observer]
            [rng.below(3) as usize];
        let later = |fault: &Fault| LATER.iter().any(|(later, _)| later == fault);
        let first = Fault::ALL.iter().copied().filter(|fault| !later(fault));
        let mut faults: BTreeSet<Fault> = first.filter(|_| rng.one_in(2)).collect();
        faults.extend(draw_later(seed));
        // What lies beyond the promises gets runs of its own, so that the others can check S1.
        let beyond = rng.one_in(8);
        if !beyond {
            faults.remove(&Fault::DriftBeyond);
            faults.remove(&Fault::StoreClockStep);
        }
        let loss = draw_loss(&mut rng, expiry, &faults);
        let latency = draw_latency(&mut rng, &settings);
        let rho_half = (settings.clock_drift_max * 0.5e6) as i64;
        let lease = settings.lease_timeout;
        Self {
            seed,
            nodes,
            ineligible,
            lifeline: !rng.one_in(3),
            expiry,
            loss,
            member_age: expiry != ExpiryClock::Observer,
            push: !rng.one_in(3),
            latency,
            message_fault_one_in: [4, 12, 40, 120][rng.below(4) as usize],
            fault_every: lease.mul_f64(0.3 + 4.0 * rng.fraction()),
            drift_ppm: if rng.one_in(4) { 0 } else { rho_half },
            faults,
            stormy: lease * rng.between(30, 90) as u32,
            settings,
        }
    }
}

fn draw_later(seed: u64) -> impl Iterator<Item = Fault> {
    let drawn = move |(_, apart): &(Fault, u64)| Rng::new(seed ^ apart).one_in(4);
    LATER.into_iter().filter(drawn).map(|(fault, _)| fault)
}

fn draw_settings(rng: &mut Rng) -> Settings {
    let profile = Profile::ALL[rng.below(Profile::ALL.len() as u64) as usize];
    let base = profile.settings();
    let policy = [Policy::Lexicographic, Policy::Priority, Policy::Incumbent];
    let request_timeout = [base.request_timeout, base.heartbeat_interval][rng.below(2) as usize];
    let takeover_delay = [base.takeover_delay, Duration::ZERO][rng.below(2) as usize];
    let safety_margin = [base.safety_margin, Duration::from_millis(10)][rng.below(2) as usize];
    let settings = base.clone().tune(|it| {
        it.request_timeout = request_timeout;
        it.takeover_delay = takeover_delay;
        it.safety_margin = safety_margin;
        it.policy = policy[rng.below(3) as usize];
        it.preempt = if rng.one_in(2) { Preempt::AfterMandate } else { Preempt::Never };
        it.skip_cold_start = rng.one_in(4);
        it.min_epoch_duration = base.lease_timeout * rng.between(1, 4) as u32;
        it.max_epoch_duration = base.lease_timeout * rng.between(4, 12) as u32;
        it.epoch_grace_period = rng.span(Duration::ZERO, Duration::from_secs(10));
        it.clock_drift_max = [0.001, 0.01, 0.05][rng.below(3) as usize];
    });
    // A wide drift or a long timeout may leave too little of a short lease: then the profile's own
    // values stand.
    if settings.check().is_ok() {
        return settings;
    }
    let (clock_drift_max, request_timeout) = (base.clock_drift_max, base.request_timeout);
    settings.tune(|it| {
        it.clock_drift_max = clock_drift_max;
        it.request_timeout = request_timeout;
    })
}

fn draw_loss(rng: &mut Rng, expiry: ExpiryClock, faults: &BTreeSet<Fault>) -> FailoverLoss {
    let is_detectable = !rng.one_in(3);
    match (faults.contains(&Fault::StoreFailover), expiry) {
        (false, _) | (_, ExpiryClock::StoreLease) => FailoverLoss::None,
        (true, _) if is_detectable => FailoverLoss::Detectable,
        (true, _) => FailoverLoss::Silent,
    }
}

fn draw_latency(rng: &mut Rng, settings: &Settings) -> Latency {
    let timeout = settings.request_timeout;
    // The last is lumpy: mostly quick, now and then nearly a timeout.
    let regimes = [(0.001, 0.002), (0.01, 0.02), (0.05, 0.2), (0.1, 0.45), (0.02, 0.8)];
    let (usual, most) = regimes[rng.below(5) as usize];
    let (usual, most) = (timeout.mul_f64(usual), timeout.mul_f64(most));
    let tail = settings.lease_timeout.mul_f64(0.2 + 1.2 * rng.fraction());
    Latency { least: usual / 5, usual, most, tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_seeds_have_none_of_the_later_faults_and_other_seeds_have() {
        let lines = include_str!("../../seeds.txt").lines();
        let seeds = lines.filter_map(|line| line.split('#').next()?.trim().parse().ok());
        let seeds: Vec<u64> = seeds.collect();
        assert!(!seeds.is_empty());
        for seed in seeds {
            let drawn: Vec<Fault> = draw_later(seed).collect();
            assert_eq!(drawn, [], "choose other numbers in LATER for seed {seed}");
        }
        for (fault, _) in LATER {
            let has = |seed: &u64| draw_later(*seed).any(|drawn| drawn == fault);
            let having = (0..1_000).filter(has).count();
            assert!((150..350).contains(&having), "{}: {having}", fault.name());
        }
    }

    #[test]
    fn a_thousand_plans_hold_no_contradiction_and_differ() {
        let plans: Vec<Plan> = (0..1_000).map(Plan::draw).collect();
        for plan in &plans {
            assert_eq!(plan.settings.check(), Ok(()), "seed {}", plan.seed);
        }
        let lossy = plans.iter().filter(|plan| plan.loss == FailoverLoss::Detectable).count();
        let beyond = plans.iter().filter(|plan| plan.beyond_drift()).count();
        assert!((50..500).contains(&lossy), "{lossy}");
        assert!((20..300).contains(&beyond), "{beyond}");
    }
}

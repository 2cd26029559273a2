//! What must hold whatever happens: thousands of seeded random histories, one core each.
//!
//! [`driver`] plays a runtime and a store that mostly does as it is asked, and now and then loses
//! an answer, lies, forgets or pauses the process. [`rules`] looks at every step.

mod driver;
mod rules;

use driver::Run;
use rules::Rules;

use baton_core::settings::{Preempt, Profile, Settings};

use crate::harness::{ms, settings};

const SEEDS: u64 = 3_000;
const STEPS: usize = 150;

/// Plays one history and returns how many terms were started in it.
fn play(settings: &Settings, seed: u64) -> u64 {
    let mut run = Run::new(settings.clone(), seed);
    let mut rules = Rules::new(settings.lease_terms());
    for _ in 0..STEPS {
        let step = run.step();
        rules.check(&run, &step);
    }
    rules.terms_started()
}

#[test]
fn no_history_breaks_a_rule() {
    let started: u64 = (0..SEEDS).map(|seed| play(&settings(), seed)).sum();
    // Shows that the histories get somewhere: a rule about terms needs terms.
    assert!(started > SEEDS, "only {started} terms in {SEEDS} histories");
}

#[test]
fn no_history_breaks_a_rule_under_other_settings() {
    let hasty = settings().tune(|it| {
        it.preempt = Preempt::AfterMandate;
        it.min_epoch_duration = ms(15_000);
        it.skip_cold_start = true;
    });
    let all = [hasty, Profile::Fast.settings(), Profile::ShortLease.settings()];
    for settings in all {
        let started: u64 = (0..SEEDS / 4).map(|seed| play(&settings, seed)).sum();
        assert!(started > SEEDS / 4, "only {started} terms");
    }
}

#[test]
fn the_same_seed_gives_the_same_actions() {
    for seed in 0..SEEDS / 10 {
        let mut one = Run::new(settings(), seed);
        let mut two = Run::new(settings(), seed);
        for _ in 0..STEPS {
            let (first, second) = (one.step(), two.step());
            assert_eq!(first.actions, second.actions, "seed {seed} after {:?}", first.input);
        }
    }
}

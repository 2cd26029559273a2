//! Courses of runs: one cause again and again, days as they come, and one of each for the plot.

use std::time::Duration;

use baton_core::rng::Rng;

use super::{Cause, Config, RunOptions};
use crate::world::{Script, ScriptedFault};

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The longest that the plot shows one fault, in leases: what comes later looks the same.
const PLOTTED_LEASES: u32 = 4;

/// The longest that the plot shows a deploy.
const PLOTTED_DEPLOY: Duration = Duration::from_secs(150);

/// Strikes of one cause, far enough apart not to touch each other.
pub struct Series {
    pub script: Script,
    pub strikes: Vec<Duration>,
}

/// One cause again and again.
pub fn series(config: &Config, options: &RunOptions, cause: Cause) -> Series {
    let mut rng = Rng::new(options.seed ^ (1 + cause as u64));
    let mut strikes = Vec::new();
    let mut steps = Vec::new();
    let mut now = settle(config);
    for _ in 0..options.runs {
        // At any time within a beat.
        now += rng.span(Duration::ZERO, 2 * config.settings.heartbeat_interval);
        strikes.push(now);
        now = strike(config, options.nodes, cause, now, &mut rng, &mut steps) + settle(config);
    }
    let script = Script { steps, restart: config.environment.restart, length: now };
    Series { script, strikes }
}

/// Days with every cause as often as the environment has it.
pub fn days(config: &Config, options: &RunOptions) -> Script {
    let mut rng = Rng::new(options.seed);
    let mut steps = Vec::new();
    let length = DAY * options.days;
    for cause in Cause::ALL {
        let mut now = settle(config);
        loop {
            // Struck at random: the waiting times between strikes are exponential.
            let a_day = cause.a_day(&config.environment);
            let days = -(1.0 - rng.fraction()).ln() / a_day.max(f64::MIN_POSITIVE);
            now += DAY.mul_f64(days.min(1e6));
            if now >= length {
                break;
            }
            strike(config, options.nodes, cause, now, &mut rng, &mut steps);
        }
    }
    Script { steps, restart: config.environment.restart, length }
}

/// One strike of each cause, shortened to what a plot can show.
pub fn one_of_each(config: &Config, options: &RunOptions) -> Script {
    let mut shown = config.clone();
    let most = PLOTTED_LEASES * config.settings.lease_timeout;
    let environment = &mut shown.environment;
    for length in
        [&mut environment.pause_length, &mut environment.cut_length, &mut environment.outage_length]
    {
        *length = (*length).min(most);
    }
    let turns = u32::try_from(options.nodes).unwrap_or(u32::MAX);
    environment.deploy_pace = environment.deploy_pace.min(PLOTTED_DEPLOY / turns);
    environment.restart = environment.restart.min(most);
    let pause = config.settings.lease_timeout + Duration::from_secs(15);
    let mut rng = Rng::new(options.seed);
    let mut steps = Vec::new();
    let mut now = pause;
    for cause in Cause::ALL {
        now = strike(&shown, options.nodes, cause, now, &mut rng, &mut steps) + pause;
    }
    Script { steps, restart: shown.environment.restart, length: now + pause }
}

/// Makes a cause strike; says when it is over.
fn strike(
    config: &Config,
    nodes: usize,
    cause: Cause,
    at: Duration,
    rng: &mut Rng,
    steps: &mut Vec<(Duration, ScriptedFault)>,
) -> Duration {
    let environment = &config.environment;
    let (fault, length): (fn(Duration) -> ScriptedFault, Duration) = match cause {
        Cause::Crash => {
            steps.push((at, ScriptedFault::CrashLeader));
            return at + environment.restart;
        }
        Cause::Deploy => {
            let mut turn = at;
            for slot in 0..nodes {
                steps.push((turn, ScriptedFault::Leave(slot)));
                turn += environment.deploy_pace;
            }
            return turn + environment.restart;
        }
        Cause::Pause => (ScriptedFault::PauseLeader, environment.pause_length),
        Cause::Cut => (ScriptedFault::CutLeader, environment.cut_length),
        Cause::BriefOutage => (ScriptedFault::StoreAway, environment.brief_outage_length),
        Cause::Outage => (ScriptedFault::StoreAway, environment.outage_length),
    };
    let span = rng.span(length.mul_f64(0.8), length.mul_f64(1.2));
    steps.push((at, fault(span)));
    at + span
}

/// The calm after a strike: the next one finds a whole cluster again.
fn settle(config: &Config) -> Duration {
    let settings = &config.settings;
    let cold = settings.cold_start_observation_window + settings.cold_start_preparation_delay;
    let beat = settings.heartbeat_interval + settings.heartbeat_jitter + settings.request_timeout;
    2 * settings.lease_timeout + cold + 4 * beat + settings.probe_after()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::Environment;

    fn config() -> Config {
        let (profile, settings) = Default::default();
        Config { profile, settings, environment: Environment::default() }
    }

    const OPTIONS: RunOptions = RunOptions { nodes: 3, days: 10, runs: 4, seed: 7 };

    #[test]
    fn strikes_of_a_series_keep_apart_and_deploys_touch_every_node() {
        let deploys = series(&config(), &OPTIONS, Cause::Deploy);
        assert_eq!(deploys.strikes.len(), 4);
        let slots: Vec<_> = deploys.script.steps.iter().map(|(_, step)| *step).collect();
        assert_eq!(
            slots[..3],
            [ScriptedFault::Leave(0), ScriptedFault::Leave(1), ScriptedFault::Leave(2)]
        );
        assert_eq!(slots.len(), 12);
        let apart = deploys.strikes.windows(2).all(|pair| pair[1] - pair[0] > settle(&config()));
        assert!(apart, "{:?}", deploys.strikes);
    }

    #[test]
    fn days_have_about_as_many_strikes_as_the_environment_says() {
        let script = days(&config(), &OPTIONS);
        let turns =
            script.steps.iter().filter(|(_, step)| matches!(step, ScriptedFault::Leave(_))).count();
        assert!((9..=60).contains(&turns), "{turns} turns in ten days of one deploy each");
        let none = Environment { deploys_per_day: 0.0, ..Environment::default() };
        let script = days(&Config { environment: none, ..config() }, &OPTIONS);
        assert!(!script.steps.iter().any(|(_, step)| matches!(step, ScriptedFault::Leave(_))));
    }

    #[test]
    fn the_plot_takes_a_quarter_of_an_hour_or_less_at_the_default() {
        let script = one_of_each(&config(), &OPTIONS);
        assert!(script.length < Duration::from_secs(900), "{:?}", script.length);
    }
}

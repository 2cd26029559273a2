//! `--cron` and `--every`, and the policies of the schedule that they make.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use baton::plugins::schedules::{Daylight, Definition, Misfire, OnCrash, Overlap};
use baton_core::settings::show_span;
use baton_core::time::whole_ms;

use crate::commands::duration;
use crate::error::CommandError;

const HEADING: &str = "The schedule";

/// Programs that say nothing of what they run.
const RUN_OTHERS: [&str; 19] = [
    "ash", "bash", "busybox", "dash", "deno", "docker", "env", "fish", "java", "ksh", "nice",
    "node", "perl", "php", "python", "ruby", "sh", "sudo", "zsh",
];

/// The flags of a schedule.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub struct ScheduleFlags {
    /// Run the command at the times that this cron expression names: minute, hour, day of the
    /// month, month, day of the week, with the second first if there are six fields; or @yearly,
    /// @monthly, @weekly, @daily, @hourly.
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "every")]
    cron: Option<String>,
    /// Run the command at this interval, such as 5m; the first run is at the next multiple of it.
    #[arg(long, value_name = "SPAN", value_parser = duration)]
    every: Option<Duration>,
    /// Time zone in which the cron expression is read [default: UTC].
    #[arg(long, value_name = "ZONE", requires = "cron")]
    tz: Option<String>,
    /// Name of the schedule in the namespace [default: the file name of the command; there is none
    /// for a shell and other programs that run programs].
    #[arg(long, value_name = "NAME")]
    schedule: Option<String>,
    /// Missed slots: run none of them, run one for all of them, or run each of them (catch-up)
    /// [default: once].
    #[arg(long, value_name = "POLICY", value_parser = ["skip", "once", "catch-up"])]
    misfire: Option<String>,
    /// With --misfire catch-up: largest number of missed slots that are run, 1 to 100 [default:
    /// 10].
    #[arg(long, value_name = "NUMBER")]
    catch_up_cap: Option<u32>,
    /// With --misfire catch-up: age from which missed slots are not run [default: 1h].
    #[arg(long, value_name = "SPAN", value_parser = duration)]
    catch_up_age: Option<Duration>,
    /// How late a slot may start without counting as missed [default: 1m].
    #[arg(long, value_name = "SPAN", value_parser = duration)]
    grace: Option<Duration>,
    /// A slot that comes during a run: run it as well (allow), do not run it (skip), run it
    /// afterwards (queue), or stop the run for it (replace) [default: skip].
    #[arg(long, value_name = "POLICY", value_parser = ["allow", "skip", "queue", "replace"])]
    overlap: Option<String>,
    /// A run that was cut off, by a crash or a deploy: run it again (retry: at least once), or not
    /// (skip: at most once) [default: retry].
    #[arg(long, value_name = "POLICY", value_parser = ["retry", "skip"])]
    on_crash: Option<String>,
    /// A change of the clock: local times that are skipped or repeated come once, or as time
    /// elapses [default: elapsed for expressions whose hour begins with *, else once].
    #[arg(long, value_name = "POLICY", value_parser = ["once", "elapsed"], requires = "cron")]
    daylight: Option<String>,
    /// Start up to this much later, by an amount that depends on the name of the schedule.
    #[arg(long, value_name = "SPAN", value_parser = duration)]
    jitter: Option<Duration>,
    /// Time limit of one attempt; 0s for none [default: 5m].
    #[arg(long, value_name = "SPAN", value_parser = duration)]
    timeout: Option<Duration>,
    /// How many times a run that failed is tried again, 0 to 100 [default: 0].
    #[arg(long, value_name = "NUMBER")]
    retries: Option<u32>,
}

impl ScheduleFlags {
    /// The schedule of this program, if there is to be one.
    pub fn definition(&self, program: &OsStr) -> Result<Option<Definition>, CommandError> {
        let cron = match (&self.cron, self.every) {
            (Some(cron), _) => cron.clone(),
            (None, Some(every)) => format!("@every {}", show_span(every)),
            (None, None) => return self.check_unused().map(|()| None),
        };
        let mut definition = Definition::new(self.name(program)?, cron);
        if let Some(zone) = &self.tz {
            definition.tz.clone_from(zone);
        }
        definition.misfire = self.misfire()?;
        definition.overlap = match self.overlap.as_deref() {
            Some("allow") => Overlap::Allow,
            Some("queue") => Overlap::Queue,
            Some("replace") => Overlap::Replace,
            _ => Overlap::Skip,
        };
        if self.on_crash.as_deref() == Some("skip") {
            definition.on_crash = OnCrash::Skip;
        }
        definition.daylight = self.daylight.as_deref().map(|policy| match policy {
            "elapsed" => Daylight::Elapsed,
            _ => Daylight::Once,
        });
        let spans = [
            (self.grace, &mut definition.grace_ms),
            (self.jitter, &mut definition.jitter_ms),
            (self.timeout, &mut definition.timeout_ms),
        ];
        for (given, field) in spans {
            *field = given.map_or(*field, whole_ms);
        }
        definition.retries = self.retries.unwrap_or_default();
        Ok(Some(definition))
    }

    /// A name that people recognise: that of the program's file. Two schedules of one shell would
    /// have the same, and take turns instead of running side by side.
    fn name(&self, program: &OsStr) -> Result<String, CommandError> {
        if let Some(name) = &self.schedule {
            return Ok(name.clone());
        }
        let file = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
        if RUN_OTHERS.contains(&file.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) {
            return Err(CommandError::Unnamed { program: file.into_owned() });
        }
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
        Ok(file.chars().map(|c| if fits(c) { c } else { '-' }).collect())
    }

    fn misfire(&self) -> Result<Misfire, CommandError> {
        let policy = match self.misfire.as_deref() {
            Some("catch-up") => {
                let age = self.catch_up_age.unwrap_or(Duration::from_secs(60 * 60));
                let cap = self.catch_up_cap.unwrap_or(10);
                return Ok(Misfire::CatchUp { cap, age_ms: whole_ms(age) });
            }
            Some("skip") => Misfire::Skip,
            _ => Misfire::Once,
        };
        match (self.catch_up_cap, self.catch_up_age) {
            (None, None) => Ok(policy),
            (Some(_), _) => Err(needs("--catch-up-cap", "--misfire catch-up")),
            (None, Some(_)) => Err(needs("--catch-up-age", "--misfire catch-up")),
        }
    }

    /// Flags that have no effect without a schedule.
    fn check_unused(&self) -> Result<(), CommandError> {
        let given = [
            ("--schedule", self.schedule.is_some()),
            ("--misfire", self.misfire.is_some()),
            ("--catch-up-cap", self.catch_up_cap.is_some()),
            ("--catch-up-age", self.catch_up_age.is_some()),
            ("--grace", self.grace.is_some()),
            ("--overlap", self.overlap.is_some()),
            ("--on-crash", self.on_crash.is_some()),
            ("--jitter", self.jitter.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--retries", self.retries.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(needs(flag, "--cron or --every")),
            None => Ok(()),
        }
    }
}

fn needs(flag: &'static str, other: &'static str) -> CommandError {
    CommandError::Needs { flag, other }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        flags: ScheduleFlags,
    }

    fn name(program: &str, flags: &[&str]) -> Result<String, String> {
        let all = ["x", "--cron", "@daily"].iter().chain(flags);
        let parsed = Program::try_parse_from(all).expect("they are right");
        let definition = parsed.flags.definition(OsStr::new(program));
        definition.map(|it| it.expect("a time was given").name).map_err(|it| it.to_string())
    }

    #[test]
    fn a_schedule_is_named_after_its_command_unless_that_says_nothing() {
        assert_eq!(name("./nightly-report", &[]).as_deref(), Ok("nightly-report"));
        assert_eq!(name("/opt/our reports", &[]).as_deref(), Ok("our-reports"));
        assert_eq!(name("/bin/sh", &["--schedule", "report"]).as_deref(), Ok("report"));
        for shell in ["/bin/sh", "python3.11", "bash"] {
            let refused = name(shell, &[]).expect_err("it says nothing");
            assert!(refused.contains("give the schedule a name with --schedule"), "{refused}");
        }
    }
}

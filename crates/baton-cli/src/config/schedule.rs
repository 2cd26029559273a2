//! `[[schedule]]` tables of the file: commands that `baton serve` runs, once for each slot.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use baton::plugins::schedules::{Daylight, Definition, Misfire, OnCrash, Overlap, resolve};
use baton_core::schedule::Declared;
use baton_core::settings::show_span;
use baton_core::time::whole_ms;
use toml::Value;

use super::ConfigError;
use super::setting_values::Source;
use super::table_reader::{TableReader, tables, text};

/// Every key that such a table may have.
const KEYS: [&str; 15] = [
    "name",
    "cron",
    "every",
    "tz",
    "daylight",
    "command",
    "misfire",
    "catch_up_cap",
    "catch_up_age",
    "grace",
    "overlap",
    "on_crash",
    "jitter",
    "timeout",
    "retries",
];

/// How many missed slots are run under `misfire = "catch-up"`, unless the table says.
const CATCH_UP_CAP: u32 = 10;

/// How old they may be.
const CATCH_UP_AGE: Duration = Duration::from_secs(60 * 60);

/// One `[[schedule]]` table.
#[derive(Clone, Debug)]
pub struct ScheduleTable {
    /// File and table, for the beginning of a message.
    pub place: String,
    pub source: Source,
    /// The table as it stands in the file.
    pub shown: toml::Table,
    /// The schedule. It was checked.
    pub definition: Definition,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// Reads what the file has under `schedule`, and checks the schedules together.
pub fn read(file: &Path, value: &Value) -> Result<Vec<ScheduleTable>, ConfigError> {
    let mut declared = Declared::default();
    let mut read = Vec::new();
    for reader in tables(file, "schedule", value)? {
        let table = ScheduleReader { table: reader }.read()?;
        let refuse = |problem| ConfigError::refused(&table.place, &problem);
        let schedule = resolve(table.definition.clone()).map_err(refuse)?;
        declared.add(schedule).map_err(refuse)?;
        read.push(table);
    }
    Ok(read)
}

/// One table that is being read.
struct ScheduleReader<'a> {
    table: TableReader<'a>,
}

impl ScheduleReader<'_> {
    fn read(mut self) -> Result<ScheduleTable, ConfigError> {
        let named = self.table.text("name")?;
        if let Some(name) = named.as_deref().filter(|name| !name.is_empty()) {
            self.table.describes(format!("schedule {name}"));
        }
        self.table.check_keys(&KEYS)?;
        let missing = || self.table.refuse("name", "is missing; write name = \"report\"");
        Ok(ScheduleTable {
            place: self.table.place(),
            source: self.table.source(),
            shown: self.table.table().clone(),
            definition: self.definition(named.ok_or_else(missing)?)?,
            command: self.command()?,
        })
    }

    fn definition(&self, name: String) -> Result<Definition, ConfigError> {
        let table = &self.table;
        let mut definition = Definition::new(name, self.times()?);
        let daylights = [("once", Daylight::Once), ("elapsed", Daylight::Elapsed)];
        definition.daylight = table.choice("daylight", &daylights)?;
        let overlaps = [
            ("allow", Overlap::Allow),
            ("skip", Overlap::Skip),
            ("queue", Overlap::Queue),
            ("replace", Overlap::Replace),
        ];
        let overlap = table.choice("overlap", &overlaps)?;
        let crashes = [("retry", OnCrash::Retry), ("skip", OnCrash::Skip)];
        let on_crash = table.choice("on_crash", &crashes)?;
        set(&mut definition.tz, table.text("tz")?);
        set(&mut definition.misfire, self.misfire()?);
        set(&mut definition.overlap, overlap);
        set(&mut definition.on_crash, on_crash);
        set(&mut definition.grace_ms, table.span("grace")?.map(whole_ms));
        set(&mut definition.jitter_ms, table.span("jitter")?.map(whole_ms));
        set(&mut definition.timeout_ms, table.span("timeout")?.map(whole_ms));
        set(&mut definition.retries, table.count_or_zero("retries")?);
        Ok(definition)
    }

    /// A cron expression, or `@every` with a length of time.
    fn times(&self) -> Result<String, ConfigError> {
        let table = &self.table;
        match (table.text("cron")?, table.span("every")?) {
            (Some(cron), None) => Ok(cron),
            (None, Some(every)) => {
                for key in ["tz", "daylight"] {
                    if table.has(key) {
                        let why =
                            "cannot stand beside every, which counts elapsed time in any zone";
                        return Err(table.refuse(key, why));
                    }
                }
                Ok(format!("@every {}", show_span(every)))
            }
            (Some(_), Some(_)) => {
                Err(table.refuse("every", "stands beside cron; name one of the two"))
            }
            (None, None) => {
                let message = "is missing; write cron = \"0 2 * * *\", or every = \"5m\"";
                Err(table.refuse("cron", message))
            }
        }
    }

    fn misfire(&self) -> Result<Option<Misfire>, ConfigError> {
        let (cap, age) =
            (self.table.count_or_zero("catch_up_cap")?, self.table.span("catch_up_age")?);
        let catch_up = Misfire::CatchUp {
            cap: cap.unwrap_or(CATCH_UP_CAP),
            age_ms: whole_ms(age.unwrap_or(CATCH_UP_AGE)),
        };
        let policies = [("skip", Misfire::Skip), ("once", Misfire::Once), ("catch-up", catch_up)];
        let misfire = self.table.choice("misfire", &policies)?;
        if !matches!(misfire, Some(Misfire::CatchUp { .. })) {
            for key in ["catch_up_cap", "catch_up_age"] {
                if self.table.has(key) {
                    return Err(self.table.refuse(key, "goes with misfire = \"catch-up\""));
                }
            }
        }
        Ok(misfire)
    }

    fn command(&self) -> Result<Vec<OsString>, ConfigError> {
        let key = "command";
        let refuse = |message: &str| Err(self.table.refuse(key, message));
        let words = match self.table.table().get(key) {
            None => return refuse("is missing; write command = [\"./report\", \"--daily\"]"),
            Some(Value::String(_)) => {
                return refuse(
                    "must be an array: the program, then its arguments, as in \
                    [\"./report\", \"--daily\"]; for a line of shell write \
                    [\"sh\", \"-c\", \"…\"]",
                );
            }
            Some(Value::Array(words)) => words.iter().map(text).collect::<Option<Vec<String>>>(),
            Some(_) => None,
        };
        match words {
            None => refuse("must be an array of texts, as in [\"./report\", \"--daily\"]"),
            Some(words) if words.first().is_none_or(String::is_empty) => {
                refuse("names no program; write [\"./report\", \"--daily\"]")
            }
            Some(words) => Ok(words.into_iter().map(OsString::from).collect()),
        }
    }
}

/// Takes a value in if it was given.
fn set<T>(field: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *field = given;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<ScheduleTable>, String> {
        let table: toml::Table = toml::from_str(text).expect("it is TOML");
        read(Path::new("baton.toml"), &table["schedule"]).map_err(|problem| problem.to_string())
    }

    #[test]
    fn every_key_is_read() {
        let text = "[[schedule]]\nname = 'report'\ncron = '0 2 * * *'\ntz = 'Europe/Berlin'\n\
                    daylight = 'elapsed'\ncommand = ['./report', '--daily']\n\
                    misfire = 'catch-up'\ncatch_up_cap = 5\ncatch_up_age = '2h'\ngrace = '30s'\n\
                    overlap = 'queue'\non_crash = 'skip'\njitter = '10s'\ntimeout = '0s'\n\
                    retries = 3\n\
                    [[schedule]]\nname = 'tick'\nevery = '90s'\ncommand = ['./tick']\n\
                    misfire = 'catch-up'";
        let all = parsed(text).expect("a sound file");
        let mut report = Definition::new("report", "0 2 * * *");
        report.tz = "Europe/Berlin".to_owned();
        report.daylight = Some(Daylight::Elapsed);
        report.misfire = Misfire::CatchUp { cap: 5, age_ms: 7_200_000 };
        report.overlap = Overlap::Queue;
        report.on_crash = OnCrash::Skip;
        (report.grace_ms, report.jitter_ms, report.timeout_ms) = (30_000, 10_000, 0);
        report.retries = 3;
        assert_eq!(all[0].definition, report);
        assert_eq!(all[0].command, ["./report", "--daily"]);
        assert_eq!(all[0].place, "baton.toml: [[schedule]] 1");
        let mut tick = Definition::new("tick", "@every 1m 30s");
        tick.misfire = Misfire::CatchUp { cap: 10, age_ms: 3_600_000 };
        assert_eq!(all[1].definition, tick);
    }

    #[test]
    fn the_schedules_of_a_file_have_names_of_their_own() {
        let one = "[[schedule]]\nname = 'a'\nevery = '5m'\ncommand = ['x']\n";
        let message = parsed(&one.repeat(2)).expect_err("it is there twice");
        assert_eq!(
            message,
            "baton.toml: [[schedule]] 2: two schedules are named a: each name can be used once in \
             a namespace"
        );
        let message = parsed("schedule = 5").expect_err("no table");
        assert!(message.contains("write each under a line [[schedule]]"), "{message}");
    }
}

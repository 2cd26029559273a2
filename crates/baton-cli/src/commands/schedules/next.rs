//! `baton schedules next`: the slots to come, of a schedule or of an expression.

use baton::plugins::schedules::{Daylight, Definition, UnknownZone, resolve, time_zone};
use baton_core::schedule::Recurrence;
use baton_store::clock::{Clock, SystemClock};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::StoreArguments;
use super::client::SchedulesClient;
use super::preview::{Column, Preview};
use crate::config::ConfigError;
use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::times::span_ms;

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("subject").required(true).args(["name", "cron"])))]
pub struct Arguments {
    /// Name of the schedule.
    name: Option<String>,
    /// Preview this expression instead of a schedule; no store is opened.
    #[arg(long, value_name = "EXPRESSION")]
    cron: Option<String>,
    /// Time zone of a further column; with --cron, the zone of the expression.
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    /// With --cron, what a clock change does: each local time `once`, or `elapsed` time; by
    /// default once, and elapsed for an expression whose hours begin with `*`.
    #[arg(long, value_name = "NAME", requires = "cron", value_parser = ["once", "elapsed"])]
    daylight: Option<String>,
    /// Number of slots to show.
    #[arg(
        long, value_name = "COUNT", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..=1_000)
    )]
    count: u32,
    /// Time from which slots are shown, such as 2027-03-28T00:00:00Z, or in the zone of the
    /// schedule 2027-03-28 or "2027-03-28 02:00"; now by default.
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    #[command(flatten)]
    store: StoreArguments,
}

/// What is previewed.
struct Subject {
    /// What its slots and the zones of its columns are.
    definition: Definition,
    recurrence: Recurrence,
    /// How much later than its slots it starts.
    offset_ms: u64,
    /// What keeps its slots from being run.
    hindrance: Option<String>,
}

pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let subject = match &arguments.cron {
        Some(cron) => arguments.of_expression(cron)?,
        None => arguments.of_schedule().await?,
    };
    let Subject { definition, recurrence, offset_ms, hindrance } = &subject;
    let from_ms = arguments.first_ms(&recurrence.zone())?;
    let is_span = matches!(recurrence, Recurrence::Every { .. });
    let own = if is_span { "UTC" } else { definition.tz.as_str() };
    let mut columns = vec![Column::new(own, recurrence.zone())];
    let further = arguments.tz.as_deref().filter(|_| arguments.cron.is_none());
    for name in ["UTC"].into_iter().chain(further) {
        if columns.iter().all(|column| column.name != name) {
            columns.push(Column::new(name, zone(name)?));
        }
    }
    let preview = Preview::of(recurrence, columns, (from_ms, arguments.count as usize));
    stdout::json_or_text(arguments.store.json, &preview.report(definition), || {
        let mut text = preview.render();
        if *offset_ms > 0 {
            let later = span_ms(*offset_ms);
            text.push_str(&format!("each slot starts {later} later, because of its jitter\n"));
        }
        text.extend(hindrance.iter().map(|hindrance| format!("{hindrance}\n")));
        text
    });
    Ok(Exit::DONE)
}

impl Arguments {
    fn of_expression(&self, cron: &str) -> Result<Subject, CommandError> {
        let mut definition = Definition::new("expression", cron);
        definition.daylight = self.daylight.as_deref().map(|name| match name {
            "once" => Daylight::Once,
            _ => Daylight::Elapsed,
        });
        if let Some(name) = &self.tz {
            definition.tz.clone_from(name);
        }
        let recurrence = Recurrence::parse(cron, zone(&definition.tz)?, definition.daylight);
        let recurrence = recurrence.map_err(|problem| ConfigError::refused("--cron", &problem))?;
        Ok(Subject { definition, recurrence, offset_ms: 0, hindrance: None })
    }

    async fn of_schedule(&self) -> Result<Subject, CommandError> {
        let name = self.name.as_deref().expect("it is required beside no expression");
        let client = SchedulesClient::to_read(&self.store).await?;
        let entry = client.get(name).await?.entry;
        let hindrance = match (entry.paused_ms, entry.undeclared_ms) {
            (_, Some(_)) => Some("was removed: the leader no longer declares it".to_owned()),
            (Some(_), None) => {
                Some(format!("is paused: no slot is due until `baton schedules resume {name}`"))
            }
            (None, None) => None,
        };
        let definition = entry.definition;
        let schedule = resolve(definition.clone());
        let schedule = schedule.map_err(|it| CommandError::Schedule(it.into()))?;
        let at = entry.last;
        Ok(Subject {
            offset_ms: schedule.starts_at(at).saturating_sub(at.at_ms),
            recurrence: schedule.recurrence,
            hindrance: hindrance.map(|it| format!("{name} {it}")),
            definition,
        })
    }

    /// The first moment, in Unix milliseconds: an instant, or a local time of this zone.
    fn first_ms(&self, zone: &TimeZone) -> Result<u64, ConfigError> {
        let Some(text) = &self.from else { return Ok(SystemClock.wall_ms()) };
        let local = |time: DateTime| zone.to_timestamp(time).ok();
        let at: Option<Timestamp> = text.parse().ok().or_else(|| text.parse().ok().and_then(local));
        let at_ms = at.and_then(|at| u64::try_from(at.as_millisecond()).ok());
        at_ms.ok_or_else(|| ConfigError::Value {
            shown: format!("--from {text:?}"),
            message: "is not a time since 1970; write 2027-03-28, \"2027-03-28 02:00\" or \
                      2027-03-28T00:00:00Z"
                .to_owned(),
        })
    }
}

fn zone(name: &str) -> Result<TimeZone, ConfigError> {
    time_zone(name).map_err(|UnknownZone { nearest }| ConfigError::Value {
        shown: format!("--tz {name:?}"),
        message: match nearest {
            Some(alike) => format!("is not a known time zone, did you mean {alike}?"),
            None => "is not a known time zone; write a name such as Europe/Berlin".to_owned(),
        },
    })
}

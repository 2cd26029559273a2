//! Slots to come, with the changes of the clock between them.
//!
//! ```text
//!   Europe/Berlin                   UTC
//!   Sat 2027-03-27 02:30:00 +01:00  2027-03-27 01:30:00
//!     clock set forward 1h at 2027-03-28 02:00; 02:30 comes at 03:00
//!   Sun 2027-03-28 03:00:00 +02:00  2027-03-28 01:00:00
//! ```

use baton::plugins::schedules::{Daylight, Definition, Slot};
use baton_core::schedule::Recurrence;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp};
use serde::Serialize;

use crate::output::style::Tone;
use crate::output::times::{span_ms, utc_ms};

/// Between two slots at most this many changes are shown one by one.
const CHANGES_MAX: usize = 2;

/// How many local times that a change concerns are named.
const NAMED_MAX: usize = 2;

/// A column of the preview: the times of one zone.
pub struct Column {
    pub name: String,
    zone: TimeZone,
}

impl Column {
    pub fn new(name: &str, zone: TimeZone) -> Self {
        Self { name: name.to_owned(), zone }
    }

    /// The first column has the day of the week, those of zones with an offset show it.
    fn show(&self, at_ms: u64, is_first: bool) -> String {
        let at = instant(at_ms).to_zoned(self.zone.clone());
        let day = if is_first { "%a " } else { "" };
        let offset = if self.zone == TimeZone::UTC { "" } else { " %:z" };
        at.strftime(&format!("{day}%Y-%m-%d %H:%M:%S{offset}")).to_string()
    }
}

/// A change of the clock, and what becomes of the local times that it skips or repeats.
struct ClockChange {
    at: Timestamp,
    before: Offset,
    after: Offset,
    /// Some of the local times that the expression names among them.
    concerned: Vec<DateTime>,
    daylight: Daylight,
}

enum Row {
    Slot(Slot),
    /// Between the slots before and after it.
    Change(ClockChange),
}

/// Slots of one recurrence, in columns.
pub struct Preview {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl Preview {
    /// So many slots from this instant on.
    pub fn of(
        recurrence: &Recurrence,
        columns: Vec<Column>,
        (from_ms, count): (u64, usize),
    ) -> Self {
        let mut rows = Vec::new();
        // The slot of that very instant is among them.
        let mut last = recurrence.moment(from_ms.saturating_sub(1));
        for _ in 0..count {
            let Some(slot) = recurrence.next_after(&last) else { break };
            let changes = clock_changes(recurrence, last.at_ms, slot.at_ms);
            rows.extend(changes.into_iter().map(Row::Change));
            rows.push(Row::Slot(slot));
            last = slot;
        }
        Self { columns, rows }
    }

    /// For people: a line for each slot, and lines between for changes of the clock.
    pub fn render(&self) -> String {
        let shown = |slot: &Slot| -> Vec<String> {
            let columns = self.columns.iter().enumerate();
            columns.map(|(at, column)| column.show(slot.at_ms, at == 0)).collect()
        };
        let slots = self.rows.iter().filter_map(|row| match row {
            Row::Slot(slot) => Some(shown(slot)),
            Row::Change(_) => None,
        });
        let slots: Vec<Vec<String>> = slots.collect();
        if slots.is_empty() {
            return "no slot is due until the end of the calendar\n".to_owned();
        }
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        let width = |at: usize| slots.iter().chain([&names]).map(|cells| cells[at].len()).max();
        let widths: Vec<usize> = (0..names.len()).filter_map(width).collect();
        let line = |cells: &[String], tone: Tone| {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            tone.paint(line.trim_end()) + "\n"
        };
        let mut text = line(&names, Tone::Head);
        let is_slot = |row: &Row| matches!(row, Row::Slot(_));
        let groups = self.rows.split_inclusive(is_slot).map(|rows| match rows {
            [changes @ .., Row::Slot(_)] => changes,
            changes => changes,
        });
        for (changes, cells) in groups.zip(&slots) {
            for sentence in sentences(changes) {
                text.push_str(&format!("  {}\n", Tone::Warn.paint(&sentence)));
            }
            text.push_str(&line(cells, Tone::Plain));
        }
        text
    }

    /// For programs.
    pub fn report<'a>(&'a self, definition: &'a Definition) -> PreviewReport<'a> {
        let own = &self.columns[0];
        let slots = self.rows.iter().filter_map(|row| match row {
            Row::Slot(slot) => Some(SlotReport {
                slot: utc_ms(slot.at_ms),
                local: slot.rfc3339(&own.zone),
                named: local_time(slot.local_s).map(|time| time.to_string()),
                is_repeated: slot.is_repeated,
            }),
            Row::Change(_) => None,
        });
        let changes = self.rows.iter().filter_map(|row| match row {
            Row::Change(change) => Some(ChangeReport {
                at: change.at.to_string(),
                local: change.before.to_datetime(change.at).to_string(),
                shift_s: change.shift_s(),
                concerned: change.concerned.iter().map(ToString::to_string).collect(),
            }),
            Row::Slot(_) => None,
        });
        PreviewReport {
            cron: &definition.cron,
            tz: &own.name,
            slots: slots.collect(),
            clock_changes: changes.collect(),
        }
    }
}

#[derive(Serialize)]
pub struct PreviewReport<'a> {
    cron: &'a str,
    tz: &'a str,
    slots: Vec<SlotReport>,
    clock_changes: Vec<ChangeReport>,
}

#[derive(Serialize)]
struct SlotReport {
    slot: String,
    local: String,
    /// The local time that the expression names: another one than `local` if the clock skips it.
    named: Option<String>,
    /// The clock shows this local time for the second time.
    #[serde(rename = "repeated")]
    is_repeated: bool,
}

#[derive(Serialize)]
struct ChangeReport {
    at: String,
    /// What the clock showed, or would have shown, before the change.
    local: String,
    #[serde(rename = "shift_seconds")]
    shift_s: i32,
    /// Local times of the expression that the clock skips or repeats; the first few.
    concerned: Vec<String>,
}

impl ClockChange {
    fn shift_s(&self) -> i32 {
        self.after.seconds() - self.before.seconds()
    }

    fn sentence(&self) -> String {
        let shift_s = self.shift_s();
        let is_forward = shift_s > 0;
        let way = if is_forward { "forward" } else { "back" };
        let shift = span_ms(u64::from(shift_s.unsigned_abs()) * 1_000);
        let at = self.before.to_datetime(self.at).strftime("%Y-%m-%d %H:%M");
        let mut sentence = format!("clock set {way} {shift} at {at}");
        let named: Vec<String> = self.concerned.iter().take(NAMED_MAX).map(clock).collect();
        if named.is_empty() {
            return sentence;
        }
        let more = if self.concerned.len() > NAMED_MAX { " …" } else { "" };
        let (come, not) = match named.len() {
            1 => ("comes", "does not come"),
            _ => ("come", "do not come"),
        };
        let fate = match (is_forward, self.daylight) {
            (true, Daylight::Once) => {
                format!("{come} at {}", clock(&self.after.to_datetime(self.at)))
            }
            (true, Daylight::Elapsed) => not.to_owned(),
            (false, Daylight::Once) => format!("{come} once"),
            (false, Daylight::Elapsed) => format!("{come} twice"),
        };
        sentence.push_str(&format!("; {}{more} {fate}", named.join(", ")));
        sentence
    }
}

/// The lines for the changes between two slots.
fn sentences(rows: &[Row]) -> Vec<String> {
    if rows.len() > CHANGES_MAX {
        return vec![format!("{} clock changes", rows.len())];
    }
    let changes = rows.iter().filter_map(|row| match row {
        Row::Change(change) => Some(change.sentence()),
        Row::Slot(_) => None,
    });
    changes.collect()
}

/// The changes after the first instant and up to the second, as far as they concern slots.
fn clock_changes(recurrence: &Recurrence, after_ms: u64, until_ms: u64) -> Vec<ClockChange> {
    let Recurrence::Cron { expression, zone, daylight } = recurrence else { return Vec::new() };
    let (after, until) = (instant(after_ms), instant(until_ms));
    let mut before = zone.to_offset(after);
    let mut changes = Vec::new();
    for transition in zone.following(after).take_while(|it| it.timestamp() <= until) {
        let (at, offset) = (transition.timestamp(), transition.offset());
        let old = std::mem::replace(&mut before, offset);
        if old == offset {
            continue;
        }
        let (one, other) = (old.to_datetime(at), offset.to_datetime(at));
        let (mut from, to) = (one.min(other), one.max(other));
        let mut concerned = Vec::new();
        while concerned.len() <= NAMED_MAX
            && let Some(time) = expression.at_or_after(from).filter(|time| *time < to)
            && let Ok(next) = time.checked_add(Span::new().seconds(1))
        {
            concerned.push(time);
            from = next;
        }
        changes.push(ClockChange {
            at,
            before: old,
            after: offset,
            concerned,
            daylight: *daylight,
        });
    }
    changes
}

/// A time of the day, without seconds that are 0.
fn clock(time: &DateTime) -> String {
    let form = if time.second() == 0 { "%H:%M" } else { "%H:%M:%S" };
    time.strftime(form).to_string()
}

fn instant(at_ms: u64) -> Timestamp {
    let ms = i64::try_from(at_ms).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
}

fn local_time(local_s: i64) -> Option<DateTime> {
    Some(Offset::UTC.to_datetime(Timestamp::from_second(local_s).ok()?))
}

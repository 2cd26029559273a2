//! stderr: everything that is not data, as text for people or as JSON for a log collector.
//!
//! ```text
//!   commands, run, serve ──► info, warn, error, event ──► text: baton: <line>
//!                                                     └─► json: one object a line
//! ```
//!
//! The format, and the node that the lines name, hold for the whole process.

use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use baton::{Event, Events, Namespace, NodeId, Stamped};
pub use baton_core::Level;
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;
use serde_json::{Map, Value};

use super::times::utc_ms;

/// How stderr is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
}

impl Format {
    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        <Self as clap::ValueEnum>::from_str(name, false).ok()
    }

    /// The format that arguments and environment ask for, read before they are parsed: an error in
    /// them is written in this format, too.
    pub fn guessed(mut arguments: impl Iterator<Item = String>, variable: Option<&str>) -> Self {
        let mut format = variable.and_then(Self::named).unwrap_or_default();
        while let Some(argument) = arguments.next().filter(|argument| argument != "--") {
            let Some(rest) = argument.strip_prefix("--log-format") else { continue };
            let value = match rest.strip_prefix('=') {
                Some(value) => Some(value.to_owned()),
                None if rest.is_empty() => arguments.next(),
                None => continue,
            };
            format = value.and_then(|name| Self::named(&name)).unwrap_or(format);
        }
        format
    }
}

/// Whether an event is so ordinary that it is printed on request only.
pub fn is_routine(event: &Event) -> bool {
    matches!(
        event,
        Event::WorkerHeartbeat { .. }
            | Event::ElectionCheck { .. }
            | Event::PluginPromoted { .. }
            | Event::PluginDemoted { .. }
    )
}

/// The level at which an event is logged.
fn level(event: &Event) -> Level {
    if is_routine(event) { Level::Debug } else { event.level().max(Level::Info) }
}

static IS_JSON: AtomicBool = AtomicBool::new(false);
static NODE: OnceLock<(Namespace, NodeId)> = OnceLock::new();

/// Says how stderr is written from now on.
pub fn begin(format: Format) {
    IS_JSON.store(format == Format::Json, Ordering::Relaxed);
}

/// How stderr is written.
pub fn format() -> Format {
    if IS_JSON.load(Ordering::Relaxed) { Format::Json } else { Format::Text }
}

/// The argument with which a child process writes in the same format.
pub fn argument() -> Option<&'static str> {
    (format() == Format::Json).then_some("--log-format=json")
}

/// Names the node whose process this is, for the lines in JSON.
pub fn set_node(namespace: &Namespace, node: &NodeId) {
    let _ = NODE.set((namespace.clone(), node.clone()));
}

/// Logs what happens.
pub fn info(message: &str) {
    say(Level::Info, message);
}

/// Logs a warning.
pub fn warn(message: &str) {
    say(Level::Warn, message);
}

/// Logs an error.
pub fn error(message: &str) {
    say(Level::Error, message);
}

/// Logs an event as a JSON object.
pub fn event(stamped: &Stamped) {
    write(&line_of(stamped));
}

/// Logs events of at least this level as they come. Never ends.
pub async fn follow(events: &mut Events, least: Level) {
    while let Some(stamped) = events.next().await {
        event_from(&stamped, least);
    }
    std::future::pending::<()>().await;
}

/// Logs the events that have come already.
pub fn catch_up(events: &mut Events, least: Level) {
    while let Some(stamped) = events.try_next() {
        event_from(&stamped, least);
    }
}

/// Logs an event of at least this level, if lines are JSON.
pub fn event_from(stamped: &Stamped, least: Level) {
    if format() == Format::Json && level(&stamped.event) >= least {
        event(stamped);
    }
}

fn say(level: Level, message: &str) {
    let line = match format() {
        Format::Text => format!("baton: {message}"),
        Format::Json => {
            let (namespace, node) = NODE.get().map(|(space, node)| (space, node)).unzip();
            let at = utc_ms(SystemClock.wall_ms());
            json(&LogLine { at, level, message, namespace, node, fields: Map::new() })
        }
    };
    write(&line);
}

fn write(line: &str) {
    // stderr may be closed, and there is nowhere else to report that.
    let _ = writeln!(anstream::stderr(), "{line}");
}

#[derive(Serialize)]
struct LogLine<'a> {
    at: String,
    level: Level,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a Namespace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a NodeId>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

fn json(line: &LogLine<'_>) -> String {
    serde_json::to_string(line).expect("plain data has a JSON form")
}

/// An event as a line: node and sentence first, then the event's own fields.
fn line_of(stamped: &Stamped) -> String {
    let event = serde_json::to_value(&stamped.event).expect("plain data has a JSON form");
    let fields = match event {
        Value::Object(fields) => fields,
        other => Map::from_iter([("event".to_owned(), other)]),
    };
    json(&LogLine {
        at: utc_ms(stamped.at_ms),
        level: level(&stamped.event),
        message: &stamped.event.to_string(),
        namespace: Some(&stamped.namespace),
        node: Some(&stamped.node),
        fields,
    })
}

#[cfg(test)]
mod tests {
    use baton_core::protocol::ViewVersion;

    use super::*;

    fn stamped(event: Event) -> Stamped {
        let namespace = Namespace::new("web").expect("valid");
        Stamped::new(1_700_000_000_123, namespace, NodeId::new("a").expect("valid"), event)
    }

    #[test]
    fn an_event_is_one_object_with_its_own_fields() {
        let line = line_of(&stamped(Event::BreakerOpen { failures: 5 }));
        let expected = "{\"at\":\"2023-11-14T22:13:20.123Z\",\"level\":\"warn\",\
            \"message\":\"5 requests to the store failed in a row: beats are held back\",\
            \"namespace\":\"web\",\"node\":\"a\",\
            \"event\":\"circuitBreaker:open\",\"failures\":5}";
        assert_eq!(line, expected);
    }

    #[test]
    fn no_name_stands_twice_in_an_object() {
        let worker = NodeId::new("b").expect("valid");
        let stamped = stamped(Event::WorkerTimedOut { worker });
        let own = serde_json::to_string(&stamped).expect("plain data has a JSON form");
        for line in [line_of(&stamped), own.clone()] {
            assert_eq!(line.matches("\"node\":").count(), 1, "{line}");
            let line: Value = serde_json::from_str(&line).expect("an object");
            assert_eq!((&line["node"], &line["worker"]), (&"a".into(), &"b".into()));
        }
        assert_eq!(serde_json::from_str::<Stamped>(&own).expect("its own form"), stamped);
    }

    #[test]
    fn routine_events_are_the_quietest() {
        let beat = Event::WorkerHeartbeat { latency_ms: 1 };
        let cases = [
            (beat, Level::Debug),
            (Event::BreakerClosed, Level::Info),
            (Event::WorkersUpdated { version: ViewVersion::default(), workers: 1 }, Level::Info),
            (Event::BreakerHalfOpen, Level::Warn),
            (Event::StoreRejected, Level::Error),
        ];
        for (event, expected) in cases {
            assert_eq!(level(&event), expected, "{event:?}");
        }
    }

    #[test]
    fn the_format_is_guessed_before_anything_is_parsed() {
        let guess = |arguments: &[&str], variable| {
            Format::guessed(arguments.iter().map(|word| (*word).to_owned()), variable)
        };
        assert_eq!(guess(&["serve"], None), Format::Text);
        assert_eq!(guess(&["serve", "--log-format", "json", "--oops"], None), Format::Json);
        assert_eq!(guess(&["serve", "--log-format=json"], None), Format::Json);
        assert_eq!(guess(&["run", "--", "x", "--log-format=json"], None), Format::Text);
        assert_eq!(guess(&["serve"], Some("json")), Format::Json);
        assert_eq!(guess(&["serve", "--log-format=text"], Some("json")), Format::Text);
        assert_eq!(guess(&["serve", "--log-format=xml"], Some("json")), Format::Json);
        assert_eq!(guess(&["serve", "--log-format"], None), Format::Text);
    }
}

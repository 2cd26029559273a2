//! Values as people write them, in a file, the environment or a flag: checked the same way. In a
//! file a key may be dotted: `reset_timeout` of `[circuit_breaker]` is
//! `circuit_breaker.reset_timeout`.

use std::net::SocketAddr;

use baton_core::settings::show_span;
use toml::{Table, Value};

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Span,
    Switch,
    /// A number from 0 up.
    Count,
    /// A number that may be negative.
    Whole,
    /// A number with a fraction.
    Number,
    Choice(&'static [&'static str]),
    Address,
    Hosts,
    Text,
}

impl Kind {
    /// What the help calls a value.
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Span => "DURATION",
            Self::Switch => "BOOL",
            Self::Count | Self::Whole | Self::Number => "NUMBER",
            Self::Choice(_) => "NAME",
            Self::Address => "ADDRESS:PORT",
            Self::Hosts => "NAME,…",
            Self::Text => "TEXT",
        }
    }

    /// Reads a value, and gives it the form in which it is shown. The message goes on from what was
    /// given: "… is not a length of time".
    pub fn read(self, text: &str) -> Result<Value, String> {
        let refuse = |message: &str| Err(message.to_owned());
        match self {
            Self::Span => match humantime::parse_duration(text) {
                Ok(span) => Ok(Value::String(show_span(span).to_string())),
                Err(_) => refuse("is not a length of time; write \"500ms\", \"5s\" or \"2m\""),
            },
            Self::Switch => match text {
                "true" | "yes" | "on" | "1" => Ok(Value::Boolean(true)),
                "false" | "no" | "off" | "0" => Ok(Value::Boolean(false)),
                _ => refuse("is neither true nor false"),
            },
            Self::Count => match text.parse::<u32>() {
                Ok(count) => Ok(Value::Integer(count.into())),
                Err(_) => refuse("is not a whole number from 0 to 4294967295"),
            },
            Self::Whole => match text.parse::<i32>() {
                Ok(number) => Ok(Value::Integer(number.into())),
                Err(_) => refuse("is not a whole number from -2147483648 to 2147483647"),
            },
            Self::Number => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Value::Float(number)),
                _ => refuse("is not a number; write 0.01 or 2"),
            },
            Self::Choice(names) if names.contains(&text) => Ok(Value::String(text.to_owned())),
            Self::Choice(names) => Err(format!("is unknown; choose one of {}", names.join(", "))),
            Self::Address => match text.parse::<SocketAddr>() {
                Ok(address) => Ok(Value::String(address.to_string())),
                Err(_) => refuse("is not an address with a port; write \"127.0.0.1:7000\""),
            },
            Self::Hosts if hosts(text).all(is_host) => {
                Ok(Value::String(hosts(text).collect::<Vec<_>>().join(",")))
            }
            Self::Hosts => refuse("is not a list of host names; write \"a.example,b.example\""),
            Self::Text => Ok(Value::String(text.to_owned())),
        }
    }

    /// Reads what an older variable says, where lengths of time are bare milliseconds.
    pub fn read_legacy(self, text: &str) -> Result<Value, String> {
        match (self, text.parse::<u64>()) {
            (Self::Span, Ok(ms)) => Ok(Value::String(format!("{ms}ms"))),
            (Self::Span, Err(_)) => {
                Err("is not a number of milliseconds; write 5000 for 5 s".to_owned())
            }
            _ => self.read(text),
        }
    }
}

/// The names in a list of hosts.
pub fn hosts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim)
}

/// A name alone, as a request names its host: no port, no scheme.
fn is_host(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !name.is_empty() && name.bytes().all(is_plain)
}

/// Every value that is no table, by its dotted key.
pub fn leaves(table: &Table) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    gather(table, "", &mut found);
    found
}

fn gather(table: &Table, within: &str, found: &mut Vec<(String, Value)>) {
    for (key, value) in table {
        let name = format!("{within}{key}");
        match value {
            Value::Table(below) => gather(below, &format!("{name}."), found),
            _ => found.push((name, value.clone())),
        }
    }
}

/// Puts a value at a dotted key, making tables on the way.
pub fn put(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((head, rest)) => {
            let below = table.entry(head).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(below) = below {
                put(below, rest, value);
            }
        }
    }
}

/// A value without the quotes that TOML puts around text.
pub fn bare(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A key that nothing is known of, for a message: a store's URL may stand where a name is to.
pub fn key_shown(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if key.chars().all(plain) { key.to_owned() } else { "(not shown)".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read() {
        let cases = [
            (Kind::Span, "1h 30m", Value::String("1h 30m".to_owned())),
            (Kind::Switch, "off", Value::Boolean(false)),
            (Kind::Count, "7", Value::Integer(7)),
            (Kind::Whole, "-7", Value::Integer(-7)),
            (Kind::Number, "2", Value::Float(2.0)),
            (Kind::Address, "[::1]:80", Value::String("[::1]:80".to_owned())),
            (Kind::Hosts, "a, b.c", Value::String("a,b.c".to_owned())),
            (Kind::Span, "90s", Value::String("1m 30s".to_owned())),
        ];
        for (kind, text, expected) in cases {
            assert_eq!(kind.read(text), Ok(expected), "{text}");
        }
        assert_eq!(Kind::Span.read_legacy("250"), Ok(Value::String("250ms".to_owned())));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_the_way_to_write_it() {
        let cases = [
            (Kind::Span, "5 parsecs", "is not a length of time; write \"500ms\""),
            (Kind::Switch, "perhaps", "is neither true nor false"),
            (Kind::Count, "-1", "is not a whole number from 0"),
            (Kind::Whole, "1.5", "is not a whole number"),
            (Kind::Number, "NaN", "is not a number"),
            (Kind::Choice(&["a", "b"]), "c", "is unknown; choose one of a, b"),
            (Kind::Address, "localhost", "is not an address with a port"),
            (Kind::Hosts, "a,b:80", "is not a list of host names"),
            (Kind::Hosts, "", "is not a list of host names"),
        ];
        for (kind, text, expected) in cases {
            let message = kind.read(text).expect_err(text);
            assert!(message.starts_with(expected), "{message}");
        }
        let message = Kind::Span.read_legacy("5s").expect_err("not milliseconds");
        assert!(message.starts_with("is not a number of milliseconds"), "{message}");
    }

    #[test]
    fn a_value_is_found_where_it_was_put() {
        let mut table = Table::new();
        put(&mut table, "a", Value::Integer(1));
        put(&mut table, "b.c", Value::Integer(2));
        let expected = [("a".to_owned(), Value::Integer(1)), ("b.c".to_owned(), Value::Integer(2))];
        assert_eq!(leaves(&table), expected);
    }
}

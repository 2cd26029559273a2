//! TOML tables as dotted keys: `reset_timeout` of `[circuit_breaker]` is
//! `circuit_breaker.reset_timeout`.

use toml::{Table, Value};

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
    fn a_value_is_found_where_it_was_put() {
        let mut table = Table::new();
        put(&mut table, "a", Value::Integer(1));
        put(&mut table, "b.c", Value::Integer(2));
        let expected = [("a".to_owned(), Value::Integer(1)), ("b.c".to_owned(), Value::Integer(2))];
        assert_eq!(leaves(&table), expected);
    }
}

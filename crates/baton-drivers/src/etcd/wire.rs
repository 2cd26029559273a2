//! The requests and answers of the JSON gateway: only the fields that are used. A key or a value is
//! bytes, which JSON carries in Base64; a 64-bit number is text.

use std::fmt::Display;
use std::str::FromStr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Value;

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_STANDARD.encode(bytes)
}

fn base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    BASE64_STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn decimal<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// What must hold of a key for a transaction to take its first branch.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Compare(Value);

impl Compare {
    fn new(key: &str, result: &str, target: &str, field: &str, operand: String) -> Self {
        let (key, result, target) = (encoded(key), result.to_owned(), target.to_owned());
        let fields = [("key", key), ("result", result), ("target", target), (field, operand)];
        Self(Value::from_iter(fields))
    }

    pub(super) fn absent(key: &str) -> Self {
        Self::written_at(key, 0)
    }

    pub(super) fn equals(key: &str, value: &[u8]) -> Self {
        Self::new(key, "EQUAL", "VALUE", "value", encoded(value))
    }

    /// It is there and has a value that sorts before this.
    pub(super) fn less_than(key: &str, value: &[u8]) -> Self {
        Self::new(key, "LESS", "VALUE", "value", encoded(value))
    }

    /// It was last written at this revision; 0 if it is not there.
    pub(super) fn written_at(key: &str, revision: i64) -> Self {
        Self::new(key, "EQUAL", "MOD", "modRevision", revision.to_string())
    }

    /// It is attached to this lease; 0 if to none.
    pub(super) fn attached_to(key: &str, lease: i64) -> Self {
        Self::new(key, "EQUAL", "LEASE", "lease", lease.to_string())
    }
}

/// One key, or all from one to just before another.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Range(Value);

impl Range {
    pub(super) fn key(key: &str) -> Self {
        Self(Value::from_iter([("key", encoded(key))]))
    }

    /// One key, whose value comes only if it was written after this revision.
    pub(super) fn key_after(key: &str, revision: i64) -> Self {
        let least = revision.saturating_add(1).to_string();
        Self(Value::from_iter([("key", encoded(key)), ("minModRevision", least)]))
    }

    fn from_to(from: &str, to: impl AsRef<[u8]>) -> Self {
        Self(Value::from_iter([("key", encoded(from)), ("rangeEnd", encoded(to))]))
    }

    /// Every key with this prefix.
    pub(super) fn under(prefix: &str) -> Self {
        Self::from_to(prefix, end_of(prefix))
    }

    /// The first key with this prefix that is not before that one.
    pub(super) fn first_under(prefix: &str, from: &str) -> Self {
        let end = encoded(end_of(prefix));
        Self(Value::from_iter([
            ("key", encoded(from)),
            ("rangeEnd", end),
            ("limit", "1".to_owned()),
        ]))
    }

    /// The last keys with this prefix, at most this many, the last first.
    pub(super) fn last_under(prefix: &str, limit: usize) -> Self {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX).to_string();
        Self(Value::from_iter([
            ("key", encoded(prefix)),
            ("rangeEnd", encoded(end_of(prefix))),
            ("limit", limit),
            ("sortOrder", "DESCEND".to_owned()),
            ("sortTarget", "KEY".to_owned()),
        ]))
    }
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Op(Value);

impl Op {
    pub(super) fn put(key: &str, value: impl AsRef<[u8]>) -> Self {
        Self::put_with(key, value, 0)
    }

    /// The key is removed when the lease ends; 0 stands for none.
    pub(super) fn put_with(key: &str, value: impl AsRef<[u8]>, lease: i64) -> Self {
        let (key, value, lease) = (encoded(key), encoded(value), lease.to_string());
        let put = Value::from_iter([("key", key), ("value", value), ("lease", lease)]);
        Self(Value::from_iter([("requestPut", put)]))
    }

    pub(super) fn range(range: Range) -> Self {
        Self(Value::from_iter([("requestRange", range.0)]))
    }

    pub(super) fn delete(key: &str) -> Self {
        Self(Value::from_iter([("requestDeleteRange", Range::key(key).0)]))
    }

    /// Deletes from the first key to just before the second.
    pub(super) fn delete_range(from: &str, to: &str) -> Self {
        Self(Value::from_iter([("requestDeleteRange", Range::from_to(from, to).0)]))
    }
}

/// Just after every key with this prefix. Prefixes end in `/`, so the last byte can be raised.
fn end_of(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    end
}

/// All of `compare` holds: then `success`, otherwise `failure`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Txn {
    pub(super) compare: Vec<Compare>,
    pub(super) success: Vec<Op>,
    pub(super) failure: Vec<Op>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Header {
    #[serde(deserialize_with = "decimal")]
    pub(super) cluster_id: u64,
    #[serde(deserialize_with = "decimal")]
    pub(super) revision: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TxnAnswer {
    pub(super) header: Header,
    pub(super) succeeded: bool,
    pub(super) responses: Vec<OpAnswer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpAnswer {
    pub(super) response_range: RangeAnswer,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RangeAnswer {
    pub(super) kvs: Vec<KeyValue>,
    #[serde(deserialize_with = "decimal")]
    pub(super) count: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct KeyValue {
    #[serde(deserialize_with = "base64")]
    pub(super) key: Vec<u8>,
    #[serde(deserialize_with = "base64")]
    pub(super) value: Vec<u8>,
    #[serde(deserialize_with = "decimal")]
    pub(super) mod_revision: i64,
    #[serde(deserialize_with = "decimal")]
    pub(super) lease: i64,
}

/// An etcd lease, as answers describe it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct EtcdLease {
    #[serde(rename = "ID", deserialize_with = "decimal")]
    pub(super) id: i64,
    /// Whole seconds; of what is left rounded down, and -1 if there is no such lease.
    #[serde(rename = "TTL", deserialize_with = "decimal")]
    pub(super) ttl: i64,
}

#[derive(Deserialize)]
pub(super) struct WatchLine {
    pub(super) result: Option<Events>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Events {
    pub(super) created: bool,
    pub(super) canceled: bool,
    pub(super) events: Vec<Event>,
}

#[derive(Deserialize)]
pub(super) struct Event {
    #[serde(default, rename = "type")]
    kind: String,
    pub(super) kv: KeyValue,
}

impl Event {
    pub(super) fn is_delete(&self) -> bool {
        self.kind == "DELETE"
    }

    pub(super) fn is_about(&self, key: &str) -> bool {
        self.kv.key == key.as_bytes()
    }
}

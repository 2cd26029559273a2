//! What is said to the JSON gateway and heard back: only the fields that are used.

use std::fmt::Display;
use std::str::FromStr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};

/// A key or a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Octets(pub Vec<u8>);

impl Serialize for Octets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Octets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        BASE64_STANDARD.decode(text).map(Self).map_err(D::Error::custom)
    }
}

/// A 64-bit number, which JSON carries as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Decimal<T>(pub T);

impl<T: Display> Serialize for Decimal<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromStr + TryFrom<i64>> Deserialize<'de> for Decimal<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Text(String),
            Number(i64),
        }
        let read = match Either::deserialize(deserializer)? {
            Either::Text(text) => text.parse().ok(),
            Either::Number(number) => T::try_from(number).ok(),
        };
        read.map(Self).ok_or_else(|| D::Error::custom("not a 64-bit number"))
    }
}

fn is_zero(number: &Decimal<i64>) -> bool {
    number.0 == 0
}

/// What must hold of a key for a transaction to take its first branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Compare {
    key: Octets,
    target: &'static str,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Octets>,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_revision: Option<Decimal<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mod_revision: Option<Decimal<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<Decimal<i64>>,
}

impl Compare {
    fn equal(key: &str, target: &'static str) -> Self {
        Self {
            key: octets(key),
            target,
            result: "EQUAL",
            value: None,
            create_revision: None,
            mod_revision: None,
            lease: None,
        }
    }

    /// It is not there.
    pub(super) fn absent(key: &str) -> Self {
        let create_revision = Some(Decimal(0));
        Self { create_revision, ..Self::equal(key, "CREATE") }
    }

    /// It says exactly this.
    pub(super) fn says(key: &str, value: &[u8]) -> Self {
        let value = Some(Octets(value.to_vec()));
        Self { value, ..Self::equal(key, "VALUE") }
    }

    /// It is there and says something that sorts before this.
    pub(super) fn says_less(key: &str, value: &[u8]) -> Self {
        Self { result: "LESS", ..Self::says(key, value) }
    }

    /// It was last written at this revision; 0 if it is not there.
    pub(super) fn written_at(key: &str, revision: i64) -> Self {
        let mod_revision = Some(Decimal(revision));
        Self { mod_revision, ..Self::equal(key, "MOD") }
    }

    /// It goes with this lease; 0 if with none.
    pub(super) fn goes_with(key: &str, lease: i64) -> Self {
        let lease = Some(Decimal(lease));
        Self { lease, ..Self::equal(key, "LEASE") }
    }
}

/// One operation of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Op {
    #[serde(rename = "requestPut")]
    Put(Put),
    #[serde(rename = "requestRange")]
    Range(Range),
    #[serde(rename = "requestDeleteRange")]
    Delete(Delete),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Put {
    key: Octets,
    value: Octets,
    #[serde(skip_serializing_if = "is_zero")]
    lease: Decimal<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Range {
    key: Octets,
    #[serde(skip_serializing_if = "Option::is_none")]
    range_end: Option<Octets>,
    #[serde(skip_serializing_if = "is_zero")]
    limit: Decimal<i64>,
    #[serde(skip_serializing_if = "is_zero")]
    min_mod_revision: Decimal<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_target: Option<&'static str>,
}

impl Range {
    /// One key.
    pub(super) fn key(key: &str) -> Self {
        Self { key: octets(key), ..Self::default() }
    }

    /// One key, whose value comes only if it was written after this revision.
    pub(super) fn key_after(key: &str, revision: i64) -> Self {
        Self { min_mod_revision: Decimal(revision.saturating_add(1)), ..Self::key(key) }
    }

    /// Every key that begins so.
    pub(super) fn under(prefix: &str) -> Self {
        Self { range_end: Some(end_of(prefix)), ..Self::key(prefix) }
    }

    /// The last so many of those that begin so, the last first.
    pub(super) fn last_under(prefix: &str, limit: usize) -> Self {
        let limit = Decimal(i64::try_from(limit).unwrap_or(i64::MAX));
        let (sort_order, sort_target) = (Some("DESCEND"), Some("KEY"));
        Self { limit, sort_order, sort_target, ..Self::under(prefix) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Delete {
    key: Octets,
    #[serde(skip_serializing_if = "Option::is_none")]
    range_end: Option<Octets>,
}

impl Op {
    pub(super) fn put(key: &str, value: impl Into<Vec<u8>>) -> Self {
        Self::put_with(key, value, 0)
    }

    /// The key goes when the lease does.
    pub(super) fn put_with(key: &str, value: impl Into<Vec<u8>>, lease: i64) -> Self {
        let value = Octets(value.into());
        Self::Put(Put { key: octets(key), value, lease: Decimal(lease) })
    }

    pub(super) fn delete(key: &str) -> Self {
        Self::Delete(Delete { key: octets(key), range_end: None })
    }

    /// Deletes from the first key to just before the second.
    pub(super) fn delete_range(from: &str, to: &str) -> Self {
        Self::Delete(Delete { key: octets(from), range_end: Some(octets(to)) })
    }
}

fn octets(text: &str) -> Octets {
    Octets(text.as_bytes().to_vec())
}

/// Just after every key that begins so. Prefixes end in `/`, so the last byte can be raised.
pub(super) fn end_of(prefix: &str) -> Octets {
    let mut end = prefix.as_bytes().to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    Octets(end)
}

/// All of `compare` holds: then `success`, otherwise `failure`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Txn {
    pub(super) compare: Vec<Compare>,
    pub(super) success: Vec<Op>,
    pub(super) failure: Vec<Op>,
}

/// Where and when an answer was given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Header {
    pub(super) cluster_id: Decimal<u64>,
    pub(super) revision: Decimal<i64>,
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
    pub(super) response_range: Option<RangeAnswer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RangeAnswer {
    pub(super) kvs: Vec<KeyValue>,
    pub(super) count: Decimal<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct KeyValue {
    pub(super) key: Octets,
    pub(super) value: Octets,
    pub(super) mod_revision: Decimal<i64>,
    pub(super) lease: Decimal<i64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Grant {
    #[serde(rename = "TTL")]
    pub(super) ttl: Decimal<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Granted {
    #[serde(rename = "ID")]
    pub(super) id: Decimal<i64>,
    #[serde(rename = "TTL")]
    pub(super) ttl: Decimal<i64>,
}

#[derive(Debug, Serialize)]
pub(super) struct OfLease {
    #[serde(rename = "ID")]
    pub(super) id: Decimal<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TimeToLive {
    /// Whole seconds, rounded down; -1 if there is no such lease.
    #[serde(rename = "TTL")]
    pub(super) ttl: Decimal<i64>,
}

/// Nothing to say, or nothing that is of interest.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Nothing {}

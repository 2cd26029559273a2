//! The requests and answers of the JSON gateway: only the fields that are used.

use serde::{Deserialize, Serialize};

/// A key or a value: bytes, which JSON carries in Base64.
mod base64 {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use serde::de::{Deserializer, Error};
    use serde::{Deserialize, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        BASE64_STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A 64-bit number, which JSON carries as text.
pub(super) mod decimal {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::{Deserializer, Error};
    use serde::{Deserialize, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(in super::super) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// What must hold of a key for a transaction to take its first branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Compare {
    #[serde(with = "base64")]
    key: Vec<u8>,
    result: &'static str,
    #[serde(flatten)]
    target: Target,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "target", rename_all = "UPPERCASE", rename_all_fields = "camelCase")]
enum Target {
    Mod {
        #[serde(with = "decimal")]
        mod_revision: i64,
    },
    Value {
        #[serde(with = "base64")]
        value: Vec<u8>,
    },
    Lease {
        #[serde(with = "decimal")]
        lease: i64,
    },
}

impl Compare {
    fn equal(key: &str, target: Target) -> Self {
        Self { key: key.into(), result: "EQUAL", target }
    }

    pub(super) fn absent(key: &str) -> Self {
        Self::written_at(key, 0)
    }

    pub(super) fn says(key: &str, value: &[u8]) -> Self {
        Self::equal(key, Target::Value { value: value.to_vec() })
    }

    /// It is there and has a value that sorts before this.
    pub(super) fn says_less(key: &str, value: &[u8]) -> Self {
        Self { result: "LESS", ..Self::says(key, value) }
    }

    /// It was last written at this revision; 0 if it is not there.
    pub(super) fn written_at(key: &str, mod_revision: i64) -> Self {
        Self::equal(key, Target::Mod { mod_revision })
    }

    /// It is attached to this lease; 0 if to none.
    pub(super) fn attached_to(key: &str, lease: i64) -> Self {
        Self::equal(key, Target::Lease { lease })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Op {
    #[serde(rename = "requestPut")]
    Put {
        #[serde(with = "base64")]
        key: Vec<u8>,
        #[serde(with = "base64")]
        value: Vec<u8>,
        #[serde(with = "decimal", skip_serializing_if = "is_zero")]
        lease: i64,
    },
    #[serde(rename = "requestRange")]
    Range(Range),
    #[serde(rename = "requestDeleteRange")]
    Delete(Range),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Range {
    #[serde(with = "base64")]
    key: Vec<u8>,
    #[serde(with = "base64", skip_serializing_if = "Vec::is_empty")]
    range_end: Vec<u8>,
    #[serde(with = "decimal", skip_serializing_if = "is_zero")]
    limit: i64,
    #[serde(with = "decimal", skip_serializing_if = "is_zero")]
    min_mod_revision: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_target: Option<&'static str>,
}

impl Range {
    pub(super) fn key(key: &str) -> Self {
        Self { key: key.into(), ..Self::default() }
    }

    /// One key, whose value comes only if it was written after this revision.
    pub(super) fn key_after(key: &str, revision: i64) -> Self {
        Self { min_mod_revision: revision.saturating_add(1), ..Self::key(key) }
    }

    /// Every key with this prefix.
    pub(super) fn under(prefix: &str) -> Self {
        Self { range_end: end_of(prefix), ..Self::key(prefix) }
    }

    /// The first key with this prefix that is not before that one.
    pub(super) fn first_under(prefix: &str, from: &str) -> Self {
        Self { limit: 1, key: from.into(), ..Self::under(prefix) }
    }

    /// The last keys with this prefix, at most this many, the last first.
    pub(super) fn last_under(prefix: &str, limit: usize) -> Self {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (sort_order, sort_target) = (Some("DESCEND"), Some("KEY"));
        Self { limit, sort_order, sort_target, ..Self::under(prefix) }
    }
}

impl Op {
    pub(super) fn put(key: &str, value: impl Into<Vec<u8>>) -> Self {
        Self::put_with(key, value, 0)
    }

    /// The key is removed when the lease ends.
    pub(super) fn put_with(key: &str, value: impl Into<Vec<u8>>, lease: i64) -> Self {
        Self::Put { key: key.into(), value: value.into(), lease }
    }

    pub(super) fn delete(key: &str) -> Self {
        Self::Delete(Range::key(key))
    }

    /// Deletes from the first key to just before the second.
    pub(super) fn delete_range(from: &str, to: &str) -> Self {
        Self::Delete(Range { range_end: to.into(), ..Range::key(from) })
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Txn {
    pub(super) compare: Vec<Compare>,
    pub(super) success: Vec<Op>,
    pub(super) failure: Vec<Op>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Header {
    #[serde(with = "decimal")]
    pub(super) cluster_id: u64,
    #[serde(with = "decimal")]
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
    #[serde(with = "decimal")]
    pub(super) count: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct KeyValue {
    #[serde(with = "base64")]
    pub(super) key: Vec<u8>,
    #[serde(with = "base64")]
    pub(super) value: Vec<u8>,
    #[serde(with = "decimal")]
    pub(super) mod_revision: i64,
    #[serde(with = "decimal")]
    pub(super) lease: i64,
}

/// An etcd lease, as requests name it and answers describe it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct EtcdLease {
    #[serde(rename = "ID", with = "decimal", skip_serializing_if = "is_zero")]
    pub(super) id: i64,
    /// Whole seconds; of what is left rounded down, and -1 if there is no such lease.
    #[serde(rename = "TTL", with = "decimal", skip_serializing_if = "is_zero")]
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

//! Which keys there are, and the version of their layout.
//!
//! ```text
//!   baton:{web}:meta       hash   schema, compatible, lineage, run id, fence
//!   baton:{web}:lease      hash   one record, never deleted, no time to live
//!   baton:{web}:nodes      hash   one field a node
//!   baton:{web}:view       hash   epoch, number, body
//!   baton:{web}:documents  hash   two fields a document
//!   baton:{web}:terms      list   the newest last
//!   baton:{web}:counters   hash   values, what is pending, the last append of each writer
//!   …:counters:names       zset   the counters by name
//!   …:counters:writers     zset   the writers by the time of their last append
//!   baton:{web}:hints      channel
//! ```
//!
//! The braces are Redis's hash tag: all keys of a namespace lie in one slot. Nothing has to exist
//! before the first call, which makes what it needs. The version of the layout is kept in `meta`,
//! with the lowest version that a program must know to use it, and each script looks at both.

use baton_core::ids::Namespace;

use super::config::RedisConfig;
use super::connect::literal;
use crate::driver::{IncompatibleSchema, SchemaVersion};

/// What this program writes; the scripts have the same numbers.
const KNOWN: SchemaVersion = SchemaVersion::new(1, Some(1));

/// How many keys a namespace has. Every script is given all of them.
const KEYS: usize = 9;

/// Why a namespace of this version, which its scripts refused, cannot be used.
pub(super) fn refusal(version: &str, lowest: &str) -> Option<IncompatibleSchema> {
    let found = SchemaVersion::new(version.parse().ok()?, Some(lowest.parse().ok()?));
    found.check(KNOWN).err()
}

impl RedisConfig {
    /// The keys of a namespace, in the order in which every script wants them.
    pub(super) fn keys(&self, namespace: &Namespace) -> [String; KEYS] {
        let names = [
            "meta",
            "lease",
            "nodes",
            "view",
            "documents",
            "terms",
            "counters",
            "counters:names",
            "counters:writers",
        ];
        let mut keys = names.map(|name| self.key(namespace, name));
        if let Some(template) = &self.lease_key {
            keys[1] = template.replace("{namespace}", &format!("{{{namespace}}}"));
        }
        keys
    }

    /// The channel on which the hints of a namespace are published.
    pub(super) fn channel(&self, namespace: &Namespace) -> String {
        self.key(namespace, "hints")
    }

    /// The pattern of the key that every namespace has.
    pub(super) fn every_meta(&self) -> String {
        format!("{}{{*}}:meta", literal(&self.prefix))
    }

    /// The namespace whose `meta` this key is.
    pub(super) fn namespace(&self, key: &str) -> Option<Namespace> {
        let tagged = key.strip_prefix(&self.prefix)?.strip_suffix(":meta")?;
        Namespace::new(tagged.strip_prefix('{')?.strip_suffix('}')?).ok()
    }

    fn key(&self, namespace: &Namespace, name: &str) -> String {
        format!("{}{{{namespace}}}:{name}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(rest: &str) -> [String; KEYS] {
        let config = RedisConfig::parse("redis", rest).expect("it is sound");
        config.keys(&Namespace::new("web").expect("it is a name"))
    }

    #[test]
    fn the_lease_can_have_a_name_of_its_own() {
        assert_eq!(keys("h")[1], "baton:{web}:lease");
        let own = keys("h?prefix=orchestrix:&lease_key=orchestrix:coordinator:leader");
        assert_eq!(own[..2], ["orchestrix:{web}:meta", "orchestrix:coordinator:leader"]);
        assert_eq!(keys("h?lease_key=leader:{namespace}")[1], "leader:{web}");
    }

    #[test]
    fn the_scripts_know_the_same_versions() {
        let lines = format!(
            "local SCHEMA, COMPATIBLE = '{}', '{}'\n",
            KNOWN.version, KNOWN.lowest_compatible
        );
        assert!(include_str!("lua/prelude.lua").contains(&lines), "{lines}");
    }
}

//! Which keys there are.
//!
//! ```text
//!   baton:{web}:meta       hash   schema, lineage, run id, fence
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
//! before the first step, which makes what it needs. The version of the layout is kept in `meta`.

use baton_core::ids::Namespace;

use super::config::RedisConfig;

/// The newest layout that the scripts know; they have the same number.
pub(super) const KNOWN: i64 = 1;

/// How many keys each step is given, those about counters aside.
pub(super) const KEYS: usize = 6;

/// Names keys.
#[derive(Debug)]
pub(super) struct Names {
    prefix: String,
    lease_key: Option<String>,
}

impl Names {
    pub(super) fn new(config: &RedisConfig) -> Self {
        Self { prefix: config.prefix.clone(), lease_key: config.lease_key.clone() }
    }

    /// The keys of a namespace, in the order in which every script wants them.
    pub(super) fn keys(&self, namespace: &Namespace) -> [String; KEYS] {
        let key = |name: &str| self.of(namespace, name);
        let lease = match &self.lease_key {
            Some(template) => template.replace("{namespace}", &format!("{{{namespace}}}")),
            None => key("lease"),
        };
        [key("meta"), lease, key("nodes"), key("view"), key("documents"), key("terms")]
    }

    /// The same with those of the counters, for the steps about them.
    pub(super) fn counter_keys(&self, namespace: &Namespace) -> Vec<String> {
        let own = ["counters", "counters:names", "counters:writers"];
        let own = own.map(|name| self.of(namespace, name));
        self.keys(namespace).into_iter().chain(own).collect()
    }

    /// The channel on which the hints of a namespace are published.
    pub(super) fn channel(&self, namespace: &Namespace) -> String {
        self.of(namespace, "hints")
    }

    fn of(&self, namespace: &Namespace, name: &str) -> String {
        format!("{}{{{namespace}}}:{name}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(rest: &str) -> [String; KEYS] {
        let config = RedisConfig::parse("redis", rest).expect("it is sound");
        Names::new(&config).keys(&Namespace::new("web").expect("it is a name"))
    }

    #[test]
    fn the_lease_can_have_a_name_of_its_own() {
        assert_eq!(keys("h")[1], "baton:{web}:lease");
        let own = keys("h?prefix=orchestrix:&lease_key=orchestrix:coordinator:leader");
        assert_eq!(own[..2], ["orchestrix:{web}:meta", "orchestrix:coordinator:leader"]);
        assert_eq!(keys("h?lease_key=leader:{namespace}")[1], "leader:{web}");
    }
}

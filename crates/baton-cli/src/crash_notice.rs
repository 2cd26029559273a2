//! How soon a crash of the node that is configured here will be noticed.

use std::time::Duration;

use baton::LateNotice;
use baton::lifeline::{address_for, late_notice, noticed_without, watchers};
use baton_core::ids::NodeId;
use baton_core::protocol::Member;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Capability, Store};

use crate::config::Config;

/// How long the store has to say who else is there: a slow one must not hold up a start.
const LOOKED_WITHIN: Duration = Duration::from_millis(500);

/// Why a crash of this node would be noticed late, if so: by its settings, by where the store is,
/// and by the nodes that are there already. A node that never leads is not missed.
pub async fn of_this_node(
    config: &Config,
    id: Option<&NodeId>,
    store: &dyn Store,
) -> Option<LateNotice> {
    let members = tokio::select! {
        biased;
        members = store.members(&config.namespace) => members.unwrap_or_default(),
        () = SystemClock.sleep(LOOKED_WITHIN) => Vec::new(),
    };
    among(config, id, &members, store.declaration().has(Capability::DeathProof))
}

/// The same among these nodes.
pub fn among(
    config: &Config,
    id: Option<&NodeId>,
    members: &[Member],
    store_proves_deaths: bool,
) -> Option<LateNotice> {
    let settings = &config.settings;
    if !settings.enabled || !settings.eligible {
        return None;
    }
    let mut watchers = watchers(None, members, None, settings);
    watchers.retain(|watcher| Some(watcher.node) != id);
    let after = noticed_without(settings, store_proves_deaths);
    late_notice(lifeline(config).as_deref(), &watchers, config.store.is_elsewhere(), after)
}

/// The address that a node of this configuration registers, without the port.
pub fn lifeline(config: &Config) -> Option<String> {
    let lifeline = &config.lifeline;
    let address = match lifeline.advertise {
        Some(advertised) => advertised.to_string(),
        None => address_for(lifeline.bind),
    };
    lifeline.enabled.then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, Flags};

    fn alone(variables: &[(&str, &str)]) -> Option<String> {
        let own = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        let environment: Environment = variables.iter().map(own).collect();
        let config = Config::load(&Flags::default(), &environment).expect("sound settings");
        among(&config, None, &[], false).map(|late| late.to_string())
    }

    #[test]
    fn before_any_other_node_is_known_the_place_of_the_store_and_the_address_decide() {
        let far = ("BATON_STORE", "postgres://me@db/app");
        let sentence = alone(&[far]).expect("it would be late");
        let expected = "a crash of this node will be noticed after 15s here, because its lifeline \
                        listens on 127.0.0.1, which no other host reaches";
        assert!(sentence.starts_with(expected), "{sentence}");
        assert_eq!(alone(&[("BATON_STORE", "postgres://me@127.0.0.1/app")]), None);
        assert_eq!(alone(&[far, ("BATON_LIFELINE_BIND", "10.1.2.3:0")]), None);
        let any = ("BATON_LIFELINE_BIND", "0.0.0.0:7000");
        assert_eq!(alone(&[far, any, ("BATON_LIFELINE_ADVERTISE", "10.1.2.3:7000")]), None);
    }

    #[test]
    fn a_lifeline_that_is_off_is_told_unless_the_node_never_leads() {
        let off = [("BATON_STORE", "memory://"), ("BATON_LIFELINE", "false")];
        let sentence = alone(&off).expect("it would be late");
        assert!(
            sentence.contains("because its lifeline is off; set lifeline.enabled"),
            "{sentence}"
        );
        for never in ["BATON_ELIGIBLE", "BATON_ENABLED"] {
            assert_eq!(alone(&[off[0], off[1], (never, "false")]), None, "{never}");
        }
    }
}

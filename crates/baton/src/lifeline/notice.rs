//! How soon the crash of a node is noticed, as far as the addresses of the lifelines tell.
//!
//! ```text
//!   no lifeline ──────────────────────────────────────────────────────────┐
//!   an address that only its own network reaches                          ├──► late
//!     ├─ and every node that would watch it is in another network ────────┤
//!     ├─ and no other node is known, but the store is on another host ────┘
//!     └─ and some node that would watch it is in the same network, or may be ──► at once
//!   any other address ───────────────────────────────────────────────────────► at once
//! ```
//!
//! *At once* is as far as addresses tell: a firewall between two hosts is not seen here.

use std::time::Duration;

use baton_core::LateNotice;
use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::{Member, View};
use baton_core::settings::Settings;

use super::address::Address;

const BIND: &str = "set lifeline.bind to an address of its host that the other nodes reach";

/// A node that would notice the crash of another one.
#[derive(Clone, Copy, Debug)]
pub struct Watcher<'a> {
    /// The node.
    pub node: &'a NodeId,
    /// Where its own lifeline listens, as the store has it.
    pub lifeline: Option<&'a str>,
}

/// The nodes that would notice the crash of the process `boot`, or of one that has not started:
/// those that may lead, beat and are among the first in line. Without a view of who is in line it
/// is all of them.
pub fn watchers<'a>(
    boot: Option<BootId>,
    members: &'a [Member],
    view: Option<&View>,
    settings: &Settings,
) -> Vec<Watcher<'a>> {
    let first = usize::try_from(settings.lifeline_successors).unwrap_or(usize::MAX);
    let line = view.map(|view| &view.successors).filter(|line| !line.is_empty());
    let is_near = |id: &NodeId| line.is_none_or(|line| line.iter().take(first).any(|it| it == id));
    let watches = |member: &&Member| {
        let record = &member.record;
        let beats = member.silent_for.is_none_or(|silent| silent < settings.worker_timeout);
        Some(record.boot) != boot
            && record.eligible
            && !record.draining
            && beats
            && is_near(&record.id)
    };
    let watcher = |member: &'a Member| Watcher {
        node: &member.record.id,
        lifeline: member.record.profile.lifeline.as_deref(),
    };
    members.iter().filter(watches).map(watcher).collect()
}

/// How long it takes at most until a crash is noticed that no lifeline proves. A store that proves
/// deaths itself is asked with the next beat.
pub fn noticed_without(settings: &Settings, store_proves_deaths: bool) -> Duration {
    let beat = settings.heartbeat_interval + settings.heartbeat_jitter;
    match store_proves_deaths {
        true => settings.lease_timeout.min(beat + settings.takeover_delay),
        false => settings.lease_timeout,
    }
}

/// Will the crash of the process with this lifeline be noticed only `after` that long, and why?
/// `store_is_elsewhere` counts as long as no other node is known.
pub fn late_notice(
    lifeline: Option<&str>,
    watchers: &[Watcher<'_>],
    store_is_elsewhere: bool,
    after: Duration,
) -> Option<LateNotice> {
    let late = |because, remedy: &str| Some(LateNotice::new(after, because, remedy));
    let Some(lifeline) = lifeline else {
        return late("its lifeline is off".to_owned(), "set lifeline.enabled to true");
    };
    let address: Address = lifeline.parse().ok()?;
    let ip = address.local_only()?;
    let Some(first) = watchers.first() else {
        let because = format!(
            "its lifeline listens on {ip}, which no other host reaches, and the store is on \
             another host"
        );
        let remedy = format!("{BIND}, unless all of them run on this host");
        return if store_is_elsewhere { late(because, &remedy) } else { None };
    };
    let in_reach = |watcher: &Watcher<'_>| {
        let own = watcher.lifeline.and_then(|own| own.parse::<Address>().ok());
        own.is_none_or(|own| own.may_share_network(&address))
    };
    let node = first.node;
    match watchers.iter().any(in_reach) {
        true => None,
        false => late(
            format!(
                "its lifeline listens on {ip}, which {node} on another host or in another \
                 container does not reach"
            ),
            BIND,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: Duration = Duration::from_secs(15);

    fn notice(lifeline: Option<&str>, others: &[Option<&str>], elsewhere: bool) -> Option<String> {
        let node = NodeId::new("web-2").expect("valid");
        let watchers: Vec<Watcher<'_>> =
            others.iter().map(|lifeline| Watcher { node: &node, lifeline: *lifeline }).collect();
        late_notice(lifeline, &watchers, elsewhere, AFTER).map(|notice| notice.to_string())
    }

    #[test]
    fn without_a_lifeline_a_crash_is_noticed_late_wherever_the_others_are() {
        let told = notice(None, &[Some("127.0.0.1:1@here#ab")], false).expect("it is late");
        assert_eq!(
            told,
            "a crash of this node will be noticed after 15s here, because its lifeline is off; \
             set lifeline.enabled to true"
        );
    }

    #[test]
    fn a_loopback_address_is_late_for_nodes_of_other_networks_alone() {
        for own in ["127.0.0.1:1@here#ab", "[::1]:1@here", "169.254.1.1:1@here#ab"] {
            let (here, there) = (Some("127.0.0.1:2@here#cd"), Some("10.0.0.2:2@there#cd"));
            assert_eq!(notice(Some(own), &[here], true), None, "{own}");
            assert_eq!(notice(Some(own), &[there, here], true), None, "{own}: one is near");
            assert_eq!(notice(Some(own), &[None], true), None, "{own}: it may be near");
            assert_eq!(notice(Some(own), &[Some("10.0.0.2:2")], true), None, "{own}: so may it");
            let told = notice(Some(own), &[there, there], false).expect("it is late");
            let because = "which web-2 on another host or in another container does not reach";
            assert!(told.contains(because), "{told}");
            assert!(told.ends_with(BIND), "{told}");
        }
    }

    #[test]
    fn a_loopback_address_of_an_unknown_network_is_reached_by_no_node() {
        let told = notice(Some("127.0.0.1:1#ab"), &[Some("127.0.0.1:2@here")], false);
        assert!(told.is_some_and(|told| told.contains("web-2")));
    }

    #[test]
    fn alone_the_place_of_the_store_decides() {
        let own = Some("127.0.0.1:1@here#ab");
        assert_eq!(notice(own, &[], false), None);
        let told = notice(own, &[], true).expect("it is late");
        assert!(told.contains("and the store is on another host; set lifeline.bind"), "{told}");
        assert!(told.ends_with("unless all of them run on this host"), "{told}");
    }

    #[test]
    fn an_address_of_the_network_is_not_told_as_late() {
        let own = Some("10.0.0.1:1@here#ab");
        assert_eq!(notice(own, &[Some("10.0.0.2:2@there")], true), None);
        assert_eq!(notice(own, &[], true), None);
    }
}

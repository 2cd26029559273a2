//! Says when no other node would prove this one dead, so that its crash would be noticed late.

use std::sync::atomic::Ordering;

use baton_core::protocol::Member;
use baton_core::{Event, LateNotice};
use baton_store::Capability;

use crate::lifeline::{late_notice, noticed_without, watchers};
use crate::shared::Shared;

/// Looks at the records as the leader just read them. Reported once, and again only after it was
/// otherwise in between.
pub(crate) fn report_if_unwatched(node: &Shared, members: &[Member]) {
    let notice = notice(node, members);
    let was_reported = node.is_unwatched.swap(notice.is_some(), Ordering::Relaxed);
    if let Some(notice) = notice.filter(|_| !was_reported) {
        node.events.send(Event::LifelineUnwatched(notice));
    }
}

fn notice(node: &Shared, members: &[Member]) -> Option<LateNotice> {
    let (settings, snapshot) = (&*node.settings, node.snapshot());
    if !settings.enabled || !settings.eligible {
        return None;
    }
    let watchers = watchers(Some(node.boot), members, snapshot.view.as_deref(), settings);
    let after = noticed_without(settings, node.store.declaration().has(Capability::DeathProof));
    // Where the store is, this node does not know.
    late_notice(node.profile.lifeline.as_deref(), &watchers, false, after)
}

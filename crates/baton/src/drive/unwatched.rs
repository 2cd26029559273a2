//! Says when no other node would prove this one dead, so that its crash would be noticed late.

use std::sync::atomic::Ordering;

use baton_core::protocol::Member;
use baton_core::{Event, LateNotice};
use baton_store::Capability;

use crate::lifeline::{late_notice, noticed_without, watchers};
use crate::shared::Shared;

/// Looks at the records as the leader just read them. Told once, and again only after it was
/// otherwise in between.
pub(crate) fn tell_if_unwatched(node: &Shared, members: &[Member]) {
    let notice = notice(node, members);
    let was_told = node.is_unwatched.swap(notice.is_some(), Ordering::Relaxed);
    if let Some(notice) = notice.filter(|_| !was_told) {
        node.events.send(Event::LifelineUnwatched(notice));
    }
}

fn notice(node: &Shared, members: &[Member]) -> Option<LateNotice> {
    let core = node.core();
    let settings = core.settings();
    if !settings.enabled || !settings.eligible {
        return None;
    }
    let watchers = watchers(Some(node.boot), members, core.view().map(AsRef::as_ref), settings);
    let after = noticed_without(settings, node.store.declaration().has(Capability::DeathProof));
    // Where the store is, this node does not know.
    late_notice(core.identity().profile.lifeline.as_deref(), &watchers, false, after)
}

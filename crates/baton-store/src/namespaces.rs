//! A page of the namespaces of a store.

use std::collections::BTreeSet;

use baton_core::ids::Namespace;

/// The first `limit` of these that come after `after`, in order, each once.
pub fn namespace_page(
    all: impl IntoIterator<Item = Namespace>,
    after: Option<&Namespace>,
    limit: u32,
) -> Vec<Namespace> {
    let is_later = |namespace: &Namespace| after.is_none_or(|after| namespace > after);
    let later: BTreeSet<Namespace> = all.into_iter().filter(is_later).collect();
    later.into_iter().take(limit as usize).collect()
}

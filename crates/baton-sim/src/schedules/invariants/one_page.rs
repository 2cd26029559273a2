//! A schedule stands on one page only.

use std::collections::BTreeMap;

use baton_core::schedule::{Entry, Page};

use crate::schedules::fact::Fact;

/// Remembers on which page each schedule stands.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut pages: BTreeMap<String, usize> = BTreeMap::new();
    move |fact: &Fact<'_>| {
        let Fact::Committed(commit) = fact else { return Ok(()) };
        if names(commit.before).eq(names(commit.after)) {
            return Ok(());
        }
        pages.retain(|_, page| *page != commit.page);
        for name in names(commit.after) {
            if let Some(other) = pages.insert(name.to_owned(), commit.page) {
                let page = commit.page;
                return Err(format!("{name} stands on page {other} and on page {page}"));
            }
        }
        Ok(())
    }
}

fn names(page: &Page) -> impl Iterator<Item = &str> {
    page.entries.iter().map(Entry::name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::commit::Commit;
    use crate::schedules::invariants::testing::{entry, leader, page, schedule};
    use crate::schedules::zones::Resolved;

    #[test]
    fn a_schedule_on_two_pages_fires() {
        let (empty, full) = (Page::default(), page(&entry(&schedule(|_| {}))));
        let mut checker = check();
        let mut write = |number, before, after| {
            let mut resolved = Resolved::default();
            let commit = Commit::new((number, before, after), leader(0), &mut resolved);
            checker(&Fact::Committed(&commit))
        };
        assert!(write(0, &empty, &full).is_ok());
        assert!(write(0, &full, &empty).is_ok());
        assert!(write(1, &empty, &full).is_ok());
        assert!(write(0, &empty, &full).is_err());
    }
}

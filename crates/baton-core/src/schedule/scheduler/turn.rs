//! One turn of the scheduler: what each page needs now.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{
    Action, AttemptId, ENTRIES_MAX, KnownPage, LOOK_EVERY, Page, PageState, PendingWrite, Scheduler,
};
use crate::planted::planted;
use crate::schedule::entry::{Entry, Step};
use crate::time::Moment;

/// How long a schedule that is not declared any more is remembered: a deploy that is rolled back
/// finds it as it was, paused or not.
const REMEMBERED_MS: u64 = 24 * 60 * 60 * 1_000;

impl Scheduler {
    /// Asks for what is not known, and writes what has to change.
    pub(super) fn turn(&mut self, now: Moment, wall_ms: u64, actions: &mut Vec<Action>) {
        if self.is_over {
            return;
        }
        if self.pages.is_empty() {
            self.pages.push(KnownPage::unread(now));
        }
        let is_known = self.read_unsettled(now, actions);
        if !self.is_loaded {
            return;
        }
        // A schedule may be on any page: the set is compared when all of them are known.
        if self.is_undeclared && is_known {
            self.make_room(now);
            self.is_undeclared = false;
            self.pages.iter_mut().for_each(|known| known.due_ms = Some(0));
        }
        if self.is_undeclared {
            return;
        }
        for number in 0..self.pages.len() {
            self.turn_page(number, now, wall_ms, actions);
        }
    }

    /// Reads every page that is to be read. False if there was one.
    fn read_unsettled(&mut self, now: Moment, actions: &mut Vec<Action>) -> bool {
        let mut is_known = true;
        for (page, known) in self.pages.iter_mut().enumerate() {
            let is_old =
                matches!(known.state, PageState::Settled) && now >= known.known_at + LOOK_EVERY;
            if is_old {
                known.unsettle(now);
            }
            match &mut known.state {
                PageState::Settled => {}
                PageState::Unsettled { is_asked } if !*is_asked && now >= known.held_until => {
                    *is_asked = true;
                    is_known = false;
                    actions.push(Action::Read { page });
                }
                PageState::Unsettled { .. } | PageState::Writing(_) => is_known = false,
            }
        }
        is_known
    }

    /// Sees to it that every declared schedule has a page it is or will be on.
    fn make_room(&mut self, now: Moment) {
        let known = self.pages.iter().flat_map(|known| &known.page.entries);
        let known: BTreeSet<&str> = known.map(Entry::name).collect();
        let new = self.declared.0.keys().filter(|name| !known.contains(name.as_str())).count();
        let room = |known: &KnownPage| ENTRIES_MAX.saturating_sub(known.page.entries.len());
        while self.pages.iter().map(room).sum::<usize>() < new {
            let mut page = KnownPage::unread(now);
            page.settle(now);
            self.pages.push(page);
        }
    }

    /// Changes a copy of the page as is due, and writes it if it differs.
    fn turn_page(&mut self, number: usize, now: Moment, wall_ms: u64, actions: &mut Vec<Action>) {
        let known = &self.pages[number];
        let is_held = now < known.held_until || !matches!(known.state, PageState::Settled);
        let is_due = known.due_ms.is_some_and(|due_ms| due_ms <= wall_ms);
        let lingers = known.lingers_for(now) > Duration::ZERO && !is_due;
        // Hundreds of ends may come while a page waits: they are not looked for again with each.
        let waits_on = lingers && known.is_lingering;
        if is_held || waits_on || !(is_due || self.has_ended(&known.page)) {
            return;
        }
        if lingers {
            // The ends that come meanwhile are recorded with the next write.
            self.pages[number].is_lingering = true;
            return;
        }
        let mut page = known.page.clone();
        self.pages[number].is_lingering = false;
        let events = self.change(number, &mut page, wall_ms);
        if page == self.pages[number].page {
            let due_ms = self.next_due(&page);
            self.pages[number].due_ms = due_ms;
            return;
        }
        page.writer = self.next_writer();
        let known = &mut self.pages[number];
        actions.push(Action::Write { page: number, version: known.version, content: page.clone() });
        known.state = PageState::Writing(Box::new(PendingWrite { page, events }));
        if planted!(StartsBeforeClaim)
            && let PageState::Writing(pending) = &known.state
        {
            let (page, old) = (pending.page.clone(), known.page.clone());
            known.page = page;
            self.follow(number, actions);
            self.pages[number].page = old;
        }
    }

    /// Are there ends of attempts whose schedules are on this page?
    fn has_ended(&self, page: &Page) -> bool {
        // They are in the order of the names.
        let ended: Vec<&str> = self.ended.keys().map(|it| it.schedule.as_str()).collect();
        let mut running = page.entries.iter().filter(|entry| !entry.running.is_empty());
        !ended.is_empty() && running.any(|entry| ended.binary_search(&entry.name()).is_ok())
    }

    /// All that is to be done with the schedules of a page now.
    fn change(&mut self, number: usize, page: &mut Page, wall_ms: u64) -> Vec<crate::event::Event> {
        let mut step =
            Step { now_ms: wall_ms, claimant: self.claimant, node: &self.node, events: Vec::new() };
        for entry in &mut page.entries {
            self.record_ends(entry, &mut step);
        }
        if self.is_stopping {
            return step.events;
        }
        self.add_new(number, page, wall_ms);
        for entry in &mut page.entries {
            match self.declared.get(entry.name()) {
                Some(schedule) => {
                    entry.declare(schedule, wall_ms);
                    entry.advance(schedule, &mut step);
                }
                None => {
                    if entry.undeclared_ms.is_none() {
                        entry.withdraw(&mut step);
                    }
                    entry.settle_cut_off(&mut step);
                }
            }
        }
        page.entries.retain(|entry| {
            let since = entry.undeclared_ms;
            since.is_none_or(|since| wall_ms.saturating_sub(since) < REMEMBERED_MS)
                || !entry.running.is_empty()
        });
        step.events
    }

    /// Records the ends of a schedule's attempts that have ended.
    fn record_ends(&self, entry: &mut Entry, step: &mut Step<'_>) {
        if self.ended.is_empty() {
            return;
        }
        let running: Vec<AttemptId> =
            entry.running.iter().map(|run| entry.attempt_id(run)).collect();
        for id in running {
            if let Some(end) = self.ended.get(&id) {
                entry.end_attempt((id.run, id.attempt), end.clone(), step);
            }
        }
    }

    /// Adds the declared schedules that are on no page, as far as this one has room.
    fn add_new(&self, number: usize, page: &mut Page, wall_ms: u64) {
        let others = self.pages.iter().enumerate().filter(|(at, _)| *at != number);
        let others = others.map(|(_, known)| match &known.state {
            PageState::Writing(pending) => &pending.page,
            PageState::Settled | PageState::Unsettled { .. } => &known.page,
        });
        let entries = others.chain([&*page]).flat_map(|page| &page.entries);
        let known: BTreeSet<&str> = entries.map(Entry::name).collect();
        let new = self.declared.0.iter().filter(|(name, _)| !known.contains(name.as_str()));
        let room = ENTRIES_MAX.saturating_sub(page.entries.len());
        let new: Vec<Entry> =
            new.take(room).map(|(_, schedule)| Entry::new(schedule, wall_ms)).collect();
        page.entries.extend(new);
    }

    /// When something of a page is due next.
    fn next_due(&self, page: &Page) -> Option<u64> {
        let due = |entry: &Entry| entry.due_ms(self.declared.get(entry.name())?);
        page.entries.iter().filter_map(due).min()
    }
}

//! One turn of the scheduler: what each page needs now.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{
    Action, AttemptId, ENTRIES_MAX, KnownPage, LOOK_EVERY, PAGES_MAX, Page, PageState,
    PendingWrite, Scheduler,
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
            self.place_new(now);
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
                PageState::Unsettled if now >= known.held_until => {
                    known.state = PageState::Reading;
                    is_known = false;
                    actions.push(Action::Read { page });
                }
                PageState::Unsettled | PageState::Reading | PageState::Writing(_) => {
                    is_known = false;
                }
            }
        }
        is_known
    }

    /// Gives every declared schedule that is on no page a page that has room.
    ///
    /// It keeps that page while the scheduler lives: a write that was not answered may have put it
    /// there, and may still do so.
    fn place_new(&mut self, now: Moment) {
        let entries = self.pages.iter().flat_map(|known| &known.page.entries);
        let known: BTreeSet<&str> = entries.map(Entry::name).collect();
        self.placed.retain(|name, _| !known.contains(name.as_str()));
        let mut taken: Vec<usize> = self.pages.iter().map(|it| it.page.entries.len()).collect();
        self.placed.values().for_each(|page| taken[*page] += 1);
        for name in self.declared.0.keys() {
            if known.contains(name.as_str()) || self.placed.contains_key(name) {
                continue;
            }
            let page = taken.iter().position(|taken| *taken < ENTRIES_MAX).unwrap_or(taken.len());
            if page >= PAGES_MAX {
                // Schedules that are remembered for a day have taken the room.
                break;
            }
            if page == taken.len() {
                taken.push(0);
            }
            taken[page] += 1;
            self.placed.insert(name.clone(), page);
        }
        while self.pages.len() < taken.len() {
            let mut page = KnownPage::unread(now);
            page.settle(now);
            self.pages.push(page);
        }
    }

    /// Changes a copy of the page as is due, and writes it if it differs.
    fn turn_page(&mut self, number: usize, now: Moment, wall_ms: u64, actions: &mut Vec<Action>) {
        // A page that exists without the one before it would not be found again.
        if number > 0 && self.pages[number - 1].version == 0 {
            self.pages[number].due_ms = None;
            return;
        }
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
            if let Some((end, at_ms)) = self.ended.get(&id) {
                // It ended before it is recorded.
                let now_ms = std::mem::replace(&mut step.now_ms, *at_ms);
                entry.end_attempt((id.run, id.attempt), end.clone(), step);
                step.now_ms = now_ms;
            }
        }
    }

    /// Adds the declared schedules that have their place on this page and are not there yet.
    fn add_new(&self, number: usize, page: &mut Page, wall_ms: u64) {
        let is_elsewhere =
            |name: &str| self.pages.iter().any(|known| known.page.entry(name).is_some());
        for (name, place) in &self.placed {
            let has_place = *place == number || (planted!(PlacedTwice) && !is_elsewhere(name));
            if let Some(schedule) = self.declared.get(name).filter(|_| has_place)
                && page.entry(name).is_none()
                && page.entries.len() < ENTRIES_MAX
            {
                page.entries.push(Entry::new(schedule, wall_ms));
            }
        }
    }

    /// When something of a page is due next.
    fn next_due(&self, page: &Page) -> Option<u64> {
        if self.is_stopping && !planted!(StopsInATightLoop) {
            return None;
        }
        let due = |entry: &Entry| entry.due_ms(self.declared.get(entry.name())?);
        page.entries.iter().filter_map(due).min()
    }
}

//! One term in the guard: its command, its deadlines, and what they make of each other.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use baton_core::time::Moment;
use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use super::channel::Channel;
use super::child::Child;
use super::deadline::{Deadline, Due};
use super::message::{Answer, Report};
use super::sweep;

/// A look through all processes costs a millisecond or two, on the way of every handover.
const LOOK_AFTER: Duration = Duration::from_millis(10);

/// One term.
pub(super) struct Term {
    pub(super) child: Child,
    pub(super) deadline: Deadline,
    /// The process groups that were told to stop, by number.
    terminating: BTreeSet<i32>,
    /// When other groups than the command's own are looked for.
    look_at: Option<Moment>,
    exits: Vec<OwnedFd>,
}

impl Term {
    pub(super) fn new(child: Child, deadline: Deadline) -> Self {
        Self { child, deadline, terminating: BTreeSet::new(), look_at: None, exits: Vec::new() }
    }

    /// Minds what has happened and what is due, and tells baton. Returns until when nothing more is
    /// due; `None` once nothing of the term is left and baton was told.
    pub(super) fn advance(
        &mut self,
        now: Moment,
        baton: &mut Channel,
    ) -> io::Result<Option<Moment>> {
        self.report_launch(baton)?;
        if !self.child.reap() {
            return self.close(baton).map(|()| None);
        }
        if self.child.has_ended() {
            self.deadline.end(now);
        }
        loop {
            match self.deadline.due(now) {
                Due::Wait(until) => {
                    let look_at =
                        if self.deadline.terminating { self.terminate_groups(now) } else { None };
                    return Ok(Some(look_at.map_or(until, |at| at.min(until))));
                }
                Due::Terminate => {}
                Due::Kill => {
                    self.child.kill_all();
                    return self.close(baton).map(|()| None);
                }
            }
        }
    }

    fn report_launch(&mut self, baton: &mut Channel) -> io::Result<()> {
        self.child.launch_report().map_or(Ok(()), |report| baton.send(&Answer::Report(report)))
    }

    /// Reports that nothing is left. It is the last report of the term.
    fn close(&mut self, baton: &mut Channel) -> io::Result<()> {
        // The command may have started and ended since this was last asked.
        self.report_launch(baton)?;
        if let Some(ending) = self.child.ending() {
            baton.send(&Answer::Report(Report::Exited(ending)))?;
        }
        baton.send(&Answer::Report(Report::Stopped))
    }

    /// Tells every process group of the term to stop, each once; some come to light only when the
    /// parent of a process in it has ended. Mostly the command's own group is all there is: the
    /// others are looked for when it is gone, or at the moment returned.
    fn terminate_groups(&mut self, now: Moment) -> Option<Moment> {
        if self.terminating.insert(self.child.group()) {
            self.child.signal(Signal::TERM);
            // A stopped process would hear it only when it goes on.
            self.child.signal(Signal::CONT);
            self.look_at = Some(now + LOOK_AFTER);
        }
        if let Some(at) = self.look_at.filter(|at| now < *at && !self.child.has_ended()) {
            return Some(at);
        }
        // If no process can be found now, the deadline's kill looks again, and as long as it takes.
        let descendants = sweep::descendants().unwrap_or_default();
        for descendant in &descendants {
            if self.terminating.insert(descendant.address()) {
                descendant.signal(Signal::TERM);
                descendant.signal(Signal::CONT);
            }
        }
        self.exits = descendants.iter().filter_map(sweep::Descendant::exit).collect();
        None
    }

    /// What the guard has to wait on.
    pub(super) fn events(&self) -> Vec<PollFd<'_>> {
        let is_in = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let launching = self.child.launching().map(|(fd, has_unsent)| {
            let out = if has_unsent { PollFlags::OUT } else { PollFlags::empty() };
            PollFd::from_borrowed_fd(fd, PollFlags::IN | out)
        });
        let exits = self.exits.iter().map(|exit| PollFd::new(exit, PollFlags::IN));
        self.child.exit().map(is_in).into_iter().chain(launching).chain(exits).collect()
    }
}

//! What was done and what happened: shown in a live view, or printed line by line where there is no
//! terminal.

use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton_store::clock::{Clock, SystemClock};

use crate::output::live::LiveRegion;
use crate::output::log;

/// Time between two frames of the view.
const FRAME_EVERY: Duration = Duration::from_millis(100);

/// Something that was done or happened. What is done to a node is an act.
#[derive(Clone, Debug)]
pub struct Entry<A> {
    pub at: Moment,
    pub until: Option<Moment>,
    pub act: Option<(A, NodeId)>,
    pub text: String,
}

pub struct Journal<A> {
    pub began: Moment,
    pub entries: Vec<Entry<A>>,
    live: Option<LiveRegion>,
    drawn_at: Moment,
}

impl<A> Journal<A> {
    /// A journal that begins now.
    pub fn new(live: bool) -> Self {
        let now = SystemClock.now();
        let live = live.then(LiveRegion::default);
        Self { began: now, entries: Vec::new(), live, drawn_at: now }
    }

    /// Records what happened; without a live view, prints it.
    pub fn note(&mut self, text: &str) {
        self.record(SystemClock.now(), None, text);
    }

    /// Records what happened at this moment, or was done to a node.
    pub fn record(&mut self, at: Moment, act: Option<(A, NodeId)>, text: &str) {
        if self.live.is_none() {
            let seconds = at.since(self.began).as_secs_f64();
            log::info(&format!("{seconds:5.1} s  {text}"));
        }
        self.entries.push(Entry { at, until: None, act, text: text.to_owned() });
    }

    /// Is there a live view?
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Is the next frame due? If so, the one after it is not for a while.
    pub fn is_due(&mut self) -> bool {
        let is_due = SystemClock.now().since(self.drawn_at) >= FRAME_EVERY;
        if is_due {
            self.drawn_at = SystemClock.now();
        }
        is_due
    }

    /// Draws a frame, if there is a live view.
    pub fn draw(&mut self, frame: &str) {
        if let Some(live) = &mut self.live {
            live.draw(frame);
        }
    }
}

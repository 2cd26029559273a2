//! Faults of processes: which ones are down, and what helps.

use std::collections::BTreeMap;
use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton_cli::cluster::Signal;

use super::fault::ChaosFault;
use super::kind::Kind;
use crate::error::BenchError;
use crate::sandbox::Stage;

/// The time before a process that has not ended yet, or has ended by itself, is looked at again. A
/// process that finds no store ends at once, so this is how often it is started without a store.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

/// What helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relief {
    Resume,
    Restart,
}

/// The nodes that are down, and until when.
pub struct Nodes<'a> {
    stage: &'a mut Stage,
    down: BTreeMap<NodeId, (Moment, Relief)>,
}

impl<'a> Nodes<'a> {
    /// All of them are up.
    pub fn new(stage: &'a mut Stage) -> Self {
        Self { stage, down: BTreeMap::new() }
    }

    /// Nodes that are up; none if less than half would be left.
    pub fn to_strike(&self) -> Vec<NodeId> {
        let names = &self.stage.names;
        if (self.down.len() + 1) * 2 > names.len() {
            return Vec::new();
        }
        names.iter().filter(|name| !self.down.contains_key(*name)).cloned().collect()
    }

    /// Strikes this one.
    pub fn strike(
        &mut self,
        fault: &ChaosFault,
        name: &NodeId,
        now: Moment,
    ) -> Result<(), BenchError> {
        let member = self.stage.cluster.member(name)?;
        let relief = match fault.kind {
            Kind::Kill => member.kill().map(|()| Relief::Restart)?,
            Kind::Term => member.signal(Signal::TERM).map(|()| Relief::Restart)?,
            _ => member.signal(Signal::STOP).map(|()| Relief::Resume)?,
        };
        self.down.insert(name.clone(), (now + fault.lasts, relief));
        Ok(())
    }

    /// When a process is to be helped next.
    pub fn next(&self) -> Moment {
        self.down.values().map(|(at, _)| *at).min().unwrap_or(Moment::NEVER)
    }

    /// Is this one up?
    pub fn is_up(&self, name: &NodeId) -> bool {
        !self.down.contains_key(name)
    }

    /// Is no process down?
    pub fn are_up(&self) -> bool {
        self.down.is_empty()
    }

    /// Makes the relief of every process that is down due now.
    pub fn all_due(&mut self, now: Moment) {
        self.down.values_mut().for_each(|(at, _)| *at = now.min(*at));
    }

    /// A process that has ended without being told to is started again. Says how many.
    pub fn look_round(&mut self, now: Moment) -> Result<u32, BenchError> {
        let mut ended = 0;
        for name in &self.stage.names {
            if !self.down.contains_key(name) && !self.stage.cluster.member(name)?.runs()? {
                ended += 1;
                self.down.insert(name.clone(), (now + AGAIN_AFTER, Relief::Restart));
            }
        }
        Ok(ended)
    }

    /// Resumes or restarts the processes whose time has come.
    pub fn relieve(&mut self, now: Moment) -> Result<(), BenchError> {
        let due = self.down.iter().filter(|(_, (at, _))| *at <= now);
        let due: Vec<(NodeId, Relief)> =
            due.map(|(name, (_, relief))| (name.clone(), *relief)).collect();
        for (name, relief) in due {
            let member = self.stage.cluster.member(&name)?;
            match relief {
                Relief::Resume => member.signal(Signal::CONT)?,
                Relief::Restart if member.runs()? => {
                    self.down.insert(name, (now + AGAIN_AFTER / 5, relief));
                    continue;
                }
                Relief::Restart => self.stage.cluster.start(&name)?,
            }
            self.down.remove(&name);
        }
        Ok(())
    }
}

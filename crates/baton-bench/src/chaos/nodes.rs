//! Faults of processes: which ones are down, and what brings them back.

use std::collections::BTreeMap;
use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton_cli::cluster::Signal;

use super::fault::ChaosFault;
use super::fault_kind::FaultKind;
use crate::error::BenchError;
use crate::sandbox::Stage;

/// The time before a process that has not ended yet, or has ended by itself, is looked at again. A
/// process that finds no store ends at once, so this is how often it is started without a store.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

/// What brings a node back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeRepair {
    Resume,
    Restart,
}

/// The nodes that are down, and until when.
pub struct Nodes<'a> {
    stage: &'a mut Stage,
    down: BTreeMap<NodeId, (Moment, NodeRepair)>,
}

impl<'a> Nodes<'a> {
    /// A tracker of these nodes, all of which are up.
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

    /// Strikes the node of this name.
    pub fn strike(
        &mut self,
        fault: &ChaosFault,
        name: &NodeId,
        now: Moment,
    ) -> Result<(), BenchError> {
        let member = self.stage.cluster.member(name)?;
        let repair = match fault.kind {
            FaultKind::Kill => member.kill().map(|()| NodeRepair::Restart)?,
            FaultKind::Term => member.signal(Signal::TERM).map(|()| NodeRepair::Restart)?,
            _ => member.signal(Signal::STOP).map(|()| NodeRepair::Resume)?,
        };
        self.down.insert(name.clone(), (now + fault.lasts, repair));
        Ok(())
    }

    /// When a process is to be brought back next.
    pub fn next_repair(&self) -> Moment {
        self.down.values().map(|(at, _)| *at).min().unwrap_or(Moment::NEVER)
    }

    /// Is the node of this name up?
    pub fn is_up(&self, name: &NodeId) -> bool {
        !self.down.contains_key(name)
    }

    /// Are all nodes up?
    pub fn are_up(&self) -> bool {
        self.down.is_empty()
    }

    /// Makes the repair of every process that is down due now.
    pub fn all_due(&mut self, now: Moment) {
        self.down.values_mut().for_each(|(at, _)| *at = now.min(*at));
    }

    /// Has the processes that ended by themselves started again soon. Returns how many there are.
    pub fn restart_ended(&mut self, now: Moment) -> Result<u32, BenchError> {
        let mut ended = 0;
        for name in &self.stage.names {
            if !self.down.contains_key(name) && !self.stage.cluster.member(name)?.runs()? {
                ended += 1;
                self.down.insert(name.clone(), (now + AGAIN_AFTER, NodeRepair::Restart));
            }
        }
        Ok(ended)
    }

    /// Resumes or restarts the processes whose time has come.
    pub fn repair(&mut self, now: Moment) -> Result<(), BenchError> {
        let due = self.down.iter().filter(|(_, (at, _))| *at <= now);
        let due: Vec<(NodeId, NodeRepair)> =
            due.map(|(name, (_, repair))| (name.clone(), *repair)).collect();
        for (name, repair) in due {
            let member = self.stage.cluster.member(&name)?;
            match repair {
                NodeRepair::Resume => member.signal(Signal::CONT)?,
                NodeRepair::Restart if member.runs()? => {
                    self.down.insert(name, (now + AGAIN_AFTER / 5, repair));
                    continue;
                }
                NodeRepair::Restart => self.stage.cluster.start(&name)?,
            }
            self.down.remove(&name);
        }
        Ok(())
    }
}

//! Changes to a drawn plan: what a shrunk failure needs beside its seed.

use std::fmt;
use std::str::FromStr;

use super::{Fault, Plan};

/// No fault has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("fault {0:?} is unknown; the report of a campaign lists them all")]
pub struct UnknownFault(pub String);

impl FromStr for Fault {
    type Err = UnknownFault;
    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        let found = Self::ALL.iter().copied().find(|fault| fault.name() == name);
        found.ok_or_else(|| UnknownFault(name.to_owned()))
    }
}

/// What to change. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    pub without: Vec<Fault>,
    pub nodes: Option<usize>,
    pub leases: Option<u32>,
}

impl Overrides {
    /// Changes a plan.
    pub fn apply(&self, mut plan: Plan) -> Plan {
        for fault in &self.without {
            plan.faults.remove(fault);
        }
        if let Some(nodes) = self.nodes {
            plan.nodes = nodes.max(1);
            plan.ineligible.retain(|slot| *slot < plan.nodes);
        }
        if let Some(leases) = self.leases {
            plan.stormy = plan.settings.lease_timeout * leases;
        }
        plan
    }
}

/// As flags, so that a printed line can be run.
impl fmt::Display for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(nodes) = self.nodes {
            write!(f, " --nodes {nodes}")?;
        }
        if let Some(leases) = self.leases {
            write!(f, " --leases {leases}")?;
        }
        if !self.without.is_empty() {
            let names: Vec<&str> = self.without.iter().map(|fault| fault.name()).collect();
            write!(f, " --without {}", names.join(","))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_take_away_and_print_as_flags() {
        let overrides =
            Overrides { without: vec![Fault::Pause, Fault::Crash], nodes: Some(2), leases: None };
        assert_eq!(overrides.to_string(), " --nodes 2 --without pause,crash");
        let plan = overrides.apply(Plan::draw(3));
        assert_eq!((plan.nodes, plan.has(Fault::Pause)), (2, false));
        assert!("pauze".parse::<Fault>().is_err());
    }
}

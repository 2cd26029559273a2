//! The states of a poll and the steps between them, as one table.

use serde::{Deserialize, Serialize};

/// Where a poll stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PollState {
    /// It waits for a node.
    Pending,
    /// It was handed to a node, which has not begun.
    Dispatching,
    /// A node runs it.
    Running,
    /// It ran to its end.
    Completed,
    /// Its last attempt failed.
    Failed,
    /// Its last attempt took too long.
    TimedOut,
    /// It was taken back before it ran.
    Cancelled,
}

/// What can happen to a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollStep {
    /// The leader hands it to a node.
    Dispatch,
    /// The leader takes it from a node that has not begun.
    Withdraw,
    /// The node begins.
    Claim,
    /// An attempt ended badly, and another is due.
    Retry,
    /// The node is done.
    Complete,
    /// The last attempt failed.
    Fail,
    /// The last attempt took too long.
    TimeOut,
    /// A caller takes it back.
    Cancel,
}

/// Every step there is. What is not here is refused.
const TABLE: [(PollState, PollStep, PollState); 9] = [
    (PollState::Pending, PollStep::Dispatch, PollState::Dispatching),
    (PollState::Pending, PollStep::Cancel, PollState::Cancelled),
    (PollState::Dispatching, PollStep::Withdraw, PollState::Pending),
    (PollState::Dispatching, PollStep::Claim, PollState::Running),
    (PollState::Dispatching, PollStep::Cancel, PollState::Cancelled),
    (PollState::Running, PollStep::Retry, PollState::Pending),
    (PollState::Running, PollStep::Complete, PollState::Completed),
    (PollState::Running, PollStep::Fail, PollState::Failed),
    (PollState::Running, PollStep::TimeOut, PollState::TimedOut),
];

/// A step that a poll in this state cannot take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a poll that is {} cannot {}", state.word(), step.words())]
pub struct IllegalStep {
    /// Where it stands.
    pub state: PollState,
    /// What was to happen.
    pub step: PollStep,
}

impl PollStep {
    /// For people, after "cannot".
    fn words(self) -> &'static str {
        match self {
            Self::Dispatch => "be dispatched",
            Self::Withdraw => "be withdrawn",
            Self::Claim => "be claimed",
            Self::Retry => "be retried",
            Self::Complete => "be completed",
            Self::Fail => "fail",
            Self::TimeOut => "time out",
            Self::Cancel => "be cancelled",
        }
    }
}

impl PollState {
    /// Where the step leads.
    pub fn after(self, step: PollStep) -> Result<Self, IllegalStep> {
        let found = TABLE.iter().find(|(from, by, _)| (*from, *by) == (self, step));
        found.map(|(_, _, to)| *to).ok_or(IllegalStep { state: self, step })
    }

    /// Is this the end of it?
    pub fn is_final(self) -> bool {
        !TABLE.iter().any(|(from, _, _)| *from == self)
    }

    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Dispatching => "dispatching",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::Cancelled => "cancelled",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [PollState; 7] = [
        PollState::Pending,
        PollState::Dispatching,
        PollState::Running,
        PollState::Completed,
        PollState::Failed,
        PollState::TimedOut,
        PollState::Cancelled,
    ];

    const STEPS: [PollStep; 8] = [
        PollStep::Dispatch,
        PollStep::Withdraw,
        PollStep::Claim,
        PollStep::Retry,
        PollStep::Complete,
        PollStep::Fail,
        PollStep::TimeOut,
        PollStep::Cancel,
    ];

    #[test]
    fn only_the_steps_of_the_table_are_taken() {
        let mut taken = 0;
        for state in STATES {
            for step in STEPS {
                match state.after(step) {
                    Ok(_) => taken += 1,
                    Err(illegal) => assert_eq!(illegal, IllegalStep { state, step }),
                }
            }
        }
        assert_eq!(taken, TABLE.len(), "no step is there twice");
    }

    #[test]
    fn final_states_take_no_step_and_every_other_leads_to_one() {
        let finals: Vec<PollState> = STATES.into_iter().filter(|state| state.is_final()).collect();
        assert_eq!(finals, STATES[3..]);
        for state in STATES.into_iter().filter(|state| !state.is_final()) {
            let mut reached = vec![state];
            for _ in 0..STATES.len() {
                let next = reached.iter().flat_map(|s| STEPS.map(|step| s.after(step)));
                let next: Vec<PollState> = next.flatten().collect();
                reached.extend(next);
                reached.sort_unstable();
                reached.dedup();
            }
            assert!(reached.iter().any(|state| state.is_final()), "{state:?}");
        }
    }

    #[test]
    fn what_runs_cannot_be_cancelled_any_more() {
        let illegal = PollState::Running.after(PollStep::Cancel).expect_err("too late");
        assert_eq!(illegal.to_string(), "a poll that is running cannot be cancelled");
    }
}

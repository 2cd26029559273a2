//! What must hold in every state.

use baton_core::ids::{BootId, Epoch};
use serde::Serialize;

/// A promise that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenPromise {
    pub promise: &'static str,
    pub what: String,
}

impl BrokenPromise {
    /// A promise that does not hold.
    pub fn new(promise: &'static str, what: String) -> Self {
        Self { promise, what }
    }
}

/// What one living process, paused or not, would answer if it were asked now.
#[derive(Clone, Copy, Debug)]
pub struct ProcessAnswers {
    pub slot: usize,
    pub open: Option<Epoch>,
    /// The epoch of which it would let work start.
    pub starts: Option<Epoch>,
    /// The highest epoch whose window was open in this process and closed since.
    pub closed: Epoch,
}

/// Looks at all processes of one state.
pub fn judge(answers: &[ProcessAnswers]) -> Option<BrokenPromise> {
    one_trusted(answers).or_else(|| answers.iter().find_map(in_window))
}

/// S1: at most one window is open.
fn one_trusted(answers: &[ProcessAnswers]) -> Option<BrokenPromise> {
    let mut open = answers.iter().filter_map(|one| one.open.map(|epoch| (one.slot, epoch)));
    let ((one, first), (other, second)) = (open.next()?, open.next()?);
    let what = format!("n{one} trusts epoch {first} and n{other} trusts epoch {second}");
    Some(BrokenPromise::new("S1", what))
}

/// S4: work starts within the window only. Rule 6: a window that closed stays closed.
fn in_window(one: &ProcessAnswers) -> Option<BrokenPromise> {
    let slot = one.slot;
    if let Some(epoch) = one.starts.filter(|_| one.starts != one.open) {
        let what = format!("n{slot} would start work of epoch {epoch} outside of its window");
        return Some(BrokenPromise::new("S4", what));
    }
    let epoch = one.open.filter(|epoch| *epoch <= one.closed)?;
    let what = format!("n{slot} trusts epoch {epoch} again, whose window had closed");
    Some(BrokenPromise::new("rule 6", what))
}

/// S2: the epochs of terms grow from one to the next, so that no two have the same.
pub fn epoch_grows(last: Option<(Epoch, BootId)>, new: (Epoch, BootId)) -> Option<BrokenPromise> {
    let (epoch, by) = last.filter(|(epoch, _)| new.0 <= *epoch)?;
    let what = format!("{:?} begins epoch {} after {by:?} began {epoch}", new.1, new.0);
    Some(BrokenPromise::new("S2", what))
}

/// S4: the lease is released only once the term's work is proved stopped.
pub fn stopped_before_release(working: Option<Epoch>, released: Epoch) -> Option<BrokenPromise> {
    let epoch = working.filter(|epoch| *epoch == released)?;
    Some(BrokenPromise::new("S4", format!("epoch {epoch} is released while its work runs")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: ProcessAnswers =
        ProcessAnswers { slot: 0, open: None, starts: None, closed: Epoch::NONE };

    #[test]
    fn a_lone_window_is_fine_and_a_second_one_is_not() {
        let one = ProcessAnswers { open: Some(Epoch(3)), starts: Some(Epoch(3)), ..IDLE };
        assert_eq!(judge(&[one, IDLE]), None);
        let other = ProcessAnswers { slot: 1, open: Some(Epoch(4)), ..IDLE };
        assert_eq!(judge(&[one, IDLE, other]).map(|broken| broken.promise), Some("S1"));
    }

    #[test]
    fn work_that_would_start_without_a_window_is_found() {
        let late = ProcessAnswers { starts: Some(Epoch(3)), ..IDLE };
        assert_eq!(judge(&[IDLE, late]).map(|broken| broken.promise), Some("S4"));
    }

    #[test]
    fn a_window_that_reopens_is_found() {
        let again = ProcessAnswers { open: Some(Epoch(3)), closed: Epoch(3), ..IDLE };
        assert_eq!(judge(&[again]).map(|broken| broken.promise), Some("rule 6"));
        let next = ProcessAnswers { open: Some(Epoch(4)), closed: Epoch(3), ..IDLE };
        assert_eq!(judge(&[next]), None);
    }

    #[test]
    fn an_epoch_that_does_not_grow_is_found() {
        let last = Some((Epoch(3), BootId(1)));
        assert_eq!(epoch_grows(last, (Epoch(4), BootId(2))), None);
        assert!(epoch_grows(last, (Epoch(3), BootId(2))).is_some());
        assert!(epoch_grows(last, (Epoch(2), BootId(1))).is_some());
    }
}

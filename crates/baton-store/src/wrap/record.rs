//! A store that writes down what was asked of it and what it said, for a checker to read.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_core::protocol::Failure;
use baton_core::time::Moment;
use serde::{Deserialize, Serialize};

use super::wrapped::{Layer, Wrapped};
use crate::clock::Clock;
use crate::contract::{Backend, Contract};
use crate::error::StoreError;
use crate::operation::Operation;

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The store answered.
    Answered(String),
    /// It did not, or it refused.
    Failed {
        /// What that means for the write.
        failure: Failure,
        /// What happened.
        detail: String,
    },
}

/// One call, from when it was made to when its answer came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When it was made.
    pub invoked_at: Moment,
    /// When its answer came.
    pub returned_at: Moment,
    /// In which namespace.
    pub namespace: Namespace,
    /// Its short name.
    pub kind: String,
    /// All that was asked.
    pub call: String,
    /// What came of it.
    pub ended: Ended,
}

#[derive(Default)]
struct Pages {
    entries: Vec<Entry>,
    left_out: u64,
}

/// Keeps the history of the calls, in the order in which their answers came.
pub struct Record {
    clock: Arc<dyn Clock>,
    entries_max: usize,
    pages: Mutex<Pages>,
}

impl Record {
    /// A store whose first `entries_max` calls are kept, timed by this clock.
    pub fn around<C: Contract>(
        inner: Arc<dyn Backend<C>>,
        clock: Arc<dyn Clock>,
        entries_max: usize,
    ) -> Wrapped<Self, C> {
        let pages = Mutex::default();
        let record = Self { clock, entries_max, pages };
        Wrapped::new(inner, record)
    }

    /// The history so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.pages.lock().expect("no push panics").entries.clone()
    }

    /// How many calls came after the history was full. A checker must not ignore them.
    pub fn left_out(&self) -> u64 {
        self.pages.lock().expect("no push panics").left_out
    }
}

#[async_trait]
impl<C: Contract> Layer<C> for Record {
    async fn call(
        &self,
        inner: &dyn Backend<C>,
        namespace: &Namespace,
        call: C::Call,
    ) -> Result<C::Answer, StoreError> {
        let invoked_at = self.clock.now();
        let (kind, asked) = (call.kind().to_owned(), format!("{call:?}"));
        let answer = inner.call(namespace, call).await;
        let entry = Entry {
            invoked_at,
            returned_at: self.clock.now(),
            namespace: namespace.clone(),
            kind,
            call: asked,
            ended: match &answer {
                Ok(answer) => Ended::Answered(format!("{answer:?}")),
                Err(error) => Ended::Failed { failure: error.failure(), detail: error.to_string() },
            },
        };
        let mut pages = self.pages.lock().expect("no push panics");
        if pages.entries.len() < self.entries_max {
            pages.entries.push(entry);
        } else {
            pages.left_out += 1;
        }
        drop(pages);
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::ManualClock;
    use crate::election::Store;
    use crate::memory::testing;
    use crate::wrap::{CallFault, Faults};

    #[tokio::test]
    async fn calls_are_kept_with_their_times_and_ends_until_the_history_is_full() {
        let clock = Arc::new(ManualClock::default());
        let broken =
            Faults::scripted(testing::store(clock.clone()), [("history", CallFault::RequestLost)]);
        let recorded = Record::around(Arc::new(broken), clock.clone(), 2);
        let space = testing::namespace();
        let began = clock.now();

        assert!(recorded.members(&space).await.is_ok());
        clock.advance(Duration::from_secs(1));
        assert!(recorded.history(&space, 3).await.is_err());
        assert!(recorded.members(&space).await.is_ok());

        let entries = recorded.layer().entries();
        assert_eq!(recorded.layer().left_out(), 1);
        assert_eq!(entries.len(), 2);
        assert_eq!((entries[0].invoked_at, &*entries[0].kind), (began, "members"));
        let answered = Ended::Answered("Core(Members([]))".to_owned());
        assert_eq!(entries[0].ended, answered);
        assert_eq!(entries[1].returned_at, began + Duration::from_secs(1));
        assert_eq!(entries[1].call, "History { limit: 3 }");
        let Ended::Failed { failure, .. } = &entries[1].ended else {
            unreachable!("the request was lost");
        };
        assert_eq!(*failure, Failure::Unknown);
    }

    #[test]
    fn an_entry_survives_a_round_trip_through_text() {
        let entry = Entry {
            invoked_at: Moment::from_micros(1),
            returned_at: Moment::from_micros(2),
            namespace: testing::namespace(),
            kind: "history".to_owned(),
            call: "History".to_owned(),
            ended: Ended::Failed { failure: Failure::NotDone, detail: "no connection".to_owned() },
        };
        let text = serde_json::to_string(&entry).expect("entries are plain data");
        assert_eq!(serde_json::from_str::<Entry>(&text).expect("it is its own"), entry);
    }
}

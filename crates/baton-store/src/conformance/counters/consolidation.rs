//! What is pending is applied by one leader, in steps of bounded size, and by no other node.

use std::sync::Arc;
use std::time::Duration;

use baton_core::protocol::Claim;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::super::case::{CaseError, Check, cases, holds, same};
use super::super::races::joined;
use super::super::stage::Stage;
use super::{CounterClient, DECLARED, append, list, refused, step};
use crate::counters::Change::Add;
use crate::counters::{CounterAnswer, CounterCall};
use crate::document::{Precondition, WriteOutcome};

cases! { "counters":
    a_consolidation_of_an_earlier_term_is_fenced needs DECLARED => refused,
    a_consolidation_keeps_to_its_limit needs DECLARED => refused,
    racing_consolidations_apply_everything_once needs DECLARED => refused,
    many_writers_lose_no_addition needs DECLARED => refused,
    silent_writers_are_forgotten_and_nothing_that_is_pending needs DECLARED => refused,
    counters_stay_in_their_namespace needs DECLARED => refused,
}

const LIMIT: u32 = 1_000;

async fn a_consolidation_of_an_earlier_term_is_fenced(stage: &Stage<'_>) -> Check {
    let (_, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    client.append(&[("hits", Add(1))]).await?;
    stage.expire().await;
    let taken = stage.peer("b").await.take(Claim::Expired).await?;
    let late = CounterCall::Consolidate { fence: held.epoch, limit: LIMIT };
    same("one of the term before", client.ask(late.clone()).await?, CounterAnswer::Fenced)?;
    let silent_for = Duration::ZERO;
    let collect = CounterCall::Collect { fence: held.epoch, silent_for, limit: LIMIT };
    same("forgetting", client.ask(collect).await?, CounterAnswer::Fenced)?;
    client.stands("hits", 0, 1).await?;
    client.repeat(&[("hits", Add(1))]).await?;
    client.consolidate(taken.epoch, 1).await?;
    client.stands("hits", 1, 1).await?;
    // A consolidation is a write that carries an epoch: it fences whatever is behind it.
    let ahead = taken.epoch.next();
    client.consolidate(ahead, 0).await?;
    let store = stage.subject.open().await;
    let fence = Some(taken.epoch);
    let write = store.write_document(&stage.namespace, "d", vec![], Precondition::Any, fence);
    same("a document of the term before", write.await?, WriteOutcome::Fenced)?;
    same("and a consolidation", client.ask(late).await?, CounterAnswer::Fenced)
}

async fn a_consolidation_keeps_to_its_limit(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    for at in 0..7 {
        client.append(&[("hits", Add(1 << at)), ("other", Add(1))]).await?;
    }
    let limited = CounterCall::Consolidate { fence: held.epoch, limit: 5 };
    // Three of the five and the next, by turns, are of this counter: the oldest come first.
    for (applied, more, consolidated) in [(5, true, 7), (5, true, 31), (4, false, 127)] {
        let answer = client.ask(limited.clone()).await?;
        same("a part", answer, CounterAnswer::Consolidated { applied, more })?;
        client.stands("hits", consolidated, 127).await?;
    }
    client.stands("other", 7, 7).await?;
    client.append(&[("hits", Add(1)); 5]).await?;
    let answer = client.ask(limited).await?;
    same("just as many", answer, CounterAnswer::Consolidated { applied: 5, more: false })
}

async fn racing_consolidations_apply_everything_once(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    for _ in 0..10 {
        client.append(&[("hits", Add(1)); 10]).await?;
    }
    let rivals = 4;
    let start = Arc::new(Barrier::new(rivals));
    let mut races = JoinSet::new();
    for _ in 0..rivals {
        let (store, namespace) = (stage.subject.open().await, stage.namespace.clone());
        let (start, fence) = (start.clone(), held.epoch);
        races.spawn(async move {
            start.wait().await;
            let mut sum = 0;
            for _ in 0..5 {
                let call = CounterCall::Consolidate { fence, limit: 7 };
                if let CounterAnswer::Consolidated { applied, .. } =
                    step(&*store, &namespace, call).await?
                {
                    sum += applied;
                }
            }
            Ok::<u32, CaseError>(sum)
        });
    }
    let mut applied = 0;
    for sum in joined(races).await? {
        applied += sum?;
    }
    same("applied by all together", applied, 100)?;
    client.stands("hits", 100, 100).await
}

async fn many_writers_lose_no_addition(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let client = CounterClient::new(stage);
    let (writers, appends) = (8, stage.settings.increments.min(50));
    let mut tasks = JoinSet::new();
    for writer in 1..=writers {
        let (store, namespace) = (stage.subject.open().await, stage.namespace.clone());
        tasks.spawn(async move {
            for number in 1..=appends {
                let call = append(writer, number, &[("hits", Add(1)), ("other", Add(-1))]);
                step(&*store, &namespace, call.clone()).await?;
                // Every third answer is taken for lost.
                if number % 3 == 0 {
                    step(&*store, &namespace, call).await?;
                }
            }
            Ok::<(), CaseError>(())
        });
    }
    let wanted = u64::try_from(writers).expect("small") * appends;
    let mut applied = 0;
    let store = stage.subject.open().await;
    loop {
        let are_done = tasks.is_empty();
        let call = CounterCall::Consolidate { fence: held.epoch, limit: 25 };
        match step(&*store, &stage.namespace, call).await? {
            CounterAnswer::Consolidated { applied: some, more } => {
                applied += some;
                let test = u64::from(applied) <= wanted * 2;
                holds("applied so far", &applied, "no more than was appended", test)?;
                if are_done && !more {
                    break;
                }
            }
            other => same("a consolidation", other, CounterAnswer::Fenced)?,
        }
        while let Some(ended) = tasks.try_join_next() {
            ended.map_err(|error| {
                CaseError::Wrong(format!("the store's code panicked: {error}"))
            })??;
        }
        tokio::task::yield_now().await;
    }
    same("applied", u64::from(applied), wanted * 2)?;
    let sum = i64::try_from(wanted).expect("small");
    client.stands("hits", sum, sum).await?;
    client.stands("other", -sum, -sum).await
}

async fn silent_writers_are_forgotten_and_nothing_that_is_pending(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    // By one handle: a store without a clock has to see a silence itself.
    let coordinator = stage.subject.open().await;
    let collect = async |silent_for, limit| {
        let call = CounterCall::Collect { fence: held.epoch, silent_for, limit };
        coordinator.counters(&stage.namespace, call).await
    };
    // Longer than a busy machine needs for the steps in between.
    let silent = stage.settings.ttl + Duration::from_secs(1);
    client.append(&[("hits", Add(1))]).await?;
    client.ask(append(2, 1, &[("hits", Add(1))])).await?;
    client.ask(append(3, 1, &[("hits", Add(1))])).await?;
    let none = CounterAnswer::Collected(0);
    same("the young", collect(Duration::from_secs(3_600), LIMIT).await?, none.clone())?;
    client.consolidate(held.epoch, 3).await?;
    client.repeat(&[("hits", Add(1))]).await?;
    client.stands("hits", 3, 3).await?;

    stage.pass(silent).await;
    client.ask(append(4, 1, &[("hits", Add(1))])).await?;
    for wanted in [2, 1, 0] {
        let answer = collect(silent, 2).await?;
        same("the silent, two at a time", answer, CounterAnswer::Collected(wanted))?;
    }
    client.stands("hits", 3, 4).await?;
    client.ask(append(4, 1, &[("hits", Add(1))])).await?;
    client.stands("hits", 3, 4).await?;
    stage.pass(silent).await;
    let answer = collect(silent, LIMIT).await?;
    same("one whose change is pending", answer, CounterAnswer::Collected(1))?;
    client.consolidate(held.epoch, 1).await?;
    client.stands("hits", 4, 4).await?;
    same("all are gone", collect(Duration::ZERO, LIMIT).await?, none)
}

async fn counters_stay_in_their_namespace(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    let other = CounterClient {
        namespace: stage.subject.namespace("counters_other"),
        ..CounterClient::new(stage)
    };
    client.append(&[("hits", Add(1))]).await?;
    // The same writer and number, in another namespace, is another append.
    other.ask(append(1, 1, &[("hits", Add(10)), ("more", Add(1))])).await?;
    client.consolidate(held.epoch, 1).await?;
    client.stands("hits", 1, 1).await?;
    other.stands("hits", 0, 10).await?;
    let listed = client.readings(list("", None, 9)).await?;
    same("how many are listed", listed.len(), 1)?;
    let call = CounterCall::Collect { fence: held.epoch, silent_for: Duration::ZERO, limit: 9 };
    same("forgotten here", client.ask(call).await?, CounterAnswer::Collected(1))?;
    other.ask(append(1, 1, &[("hits", Add(10))])).await?;
    other.stands("hits", 0, 10).await?;
    let names = other.readings(list("", None, 9)).await?;
    holds("what the other lists", &names, "two counters", names.len() == 2)
}

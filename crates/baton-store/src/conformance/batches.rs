//! Documents in batches: read at one moment, written whole or not at all.

use std::sync::Arc;

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Failure};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::case::{CaseError, Check, cases, holds, present, same};
use super::races::joined;
use super::stage::Stage;
use crate::document::Precondition::{self, Absent, Any, Version};
use crate::document::{
    BatchOutcome, DOCUMENT_BYTES_MAX, DOCUMENTS_MAX, Document, DocumentWrite, WriteOutcome,
};
use crate::election::Store;
use crate::error::StoreError;
use crate::wrap::{CallFault, Faults};

cases! { "batches":
    a_batch_is_written_whole,
    documents_are_read_in_the_order_asked,
    a_conflict_in_a_batch_writes_nothing_and_is_named,
    a_batch_of_an_earlier_term_writes_nothing,
    of_two_batches_that_overlap_one_wins,
    batches_without_a_precondition_do_not_mix,
    a_batch_and_a_write_that_create_the_same_document_do_not_mix,
    a_batch_can_be_as_large_as_the_limits,
    a_batch_beyond_the_limits_is_refused_and_changes_nothing,
    a_batch_that_names_a_document_twice_is_refused,
    an_empty_batch_is_answered,
    a_batch_without_an_answer_is_there_whole_or_not_at_all,
}

/// How often two writers race.
const ROUNDS: usize = 8;

fn write(name: &str, body: &[u8], precondition: Precondition) -> DocumentWrite {
    DocumentWrite { name: name.to_owned(), body: body.to_vec(), precondition }
}

/// Writes of these documents, all alike.
fn writes(names: &[&str], body: &[u8], precondition: Precondition) -> Vec<DocumentWrite> {
    names.iter().map(|name| write(name, body, precondition)).collect()
}

async fn put(
    stage: &Stage<'_>,
    batch: Vec<DocumentWrite>,
    fence: Option<Epoch>,
) -> Result<BatchOutcome, CaseError> {
    let store = stage.subject.open().await;
    Ok(store.write_documents(&stage.namespace, batch, fence).await?)
}

async fn read(stage: &Stage<'_>, names: &[&str]) -> Result<Vec<Option<Document>>, CaseError> {
    let store = stage.subject.open().await;
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Ok(store.read_documents(&stage.namespace, names).await?)
}

fn document(version: u64, body: &[u8]) -> Option<Document> {
    Some(Document { version, body: body.to_vec() })
}

fn written(versions: &[u64]) -> BatchOutcome {
    BatchOutcome::Written(versions.to_vec())
}

fn refused<T: std::fmt::Debug>(what: &str, outcome: &Result<T, StoreError>) -> Check {
    let test = matches!(outcome, Err(StoreError::Refused { .. }));
    holds(what, outcome, "an error that says why", test)
}

async fn a_batch_is_written_whole(stage: &Stage<'_>) -> Check {
    let (_, held) = stage.holder("a").await?;
    let fence = Some(held.epoch);
    let first = vec![write("b", b"1", Absent), write("a", b"2", Any), write("c", &[], Absent)];
    same("the first batch", put(stage, first, fence).await?, written(&[1, 1, 1]))?;
    let second =
        vec![write("c", b"3", Version(1)), write("d", b"4", Absent), write("b", b"5", Any)];
    same("the second batch", put(stage, second, fence).await?, written(&[2, 1, 2]))?;
    let found = read(stage, &["a", "b", "c", "d"]).await?;
    let wanted = vec![document(1, b"2"), document(2, b"5"), document(2, b"3"), document(1, b"4")];
    same("what stands", found, wanted)?;
    let store = stage.subject.open().await;
    let one = store.write_document(&stage.namespace, "a", b"6".to_vec(), Version(1), fence).await?;
    same("a write of one of them", one, WriteOutcome::Written(2))
}

async fn documents_are_read_in_the_order_asked(stage: &Stage<'_>) -> Check {
    let names = ["plan", "Plan", "plan ", "plän", "%"];
    for name in names {
        let outcome = put(stage, writes(&[name], name.as_bytes(), Absent), None).await?;
        same(&format!("the write of {name:?}"), outcome, written(&[1]))?;
    }
    let asked = ["none", "plän", "%", "plan ", "PLAN", "Plan", "plan", "plan  "];
    let wanted = asked.map(|name| match names.contains(&name) {
        true => document(1, name.as_bytes()),
        false => None,
    });
    same("what was found", read(stage, &asked).await?, wanted.to_vec())
}

async fn a_conflict_in_a_batch_writes_nothing_and_is_named(stage: &Stage<'_>) -> Check {
    let made = put(stage, writes(&["a", "b"], b"1", Absent), None).await?;
    same("the first batch", made, written(&[1, 1]))?;
    let conflict = |index, version| BatchOutcome::Conflict { index, version };
    for (batch, wanted) in [
        (vec![write("c", b"x", Absent), write("a", b"x", Absent), write("d", b"x", Any)], (1, 1)),
        (vec![write("a", b"x", Version(1)), write("c", b"x", Version(1))], (1, 0)),
        (vec![write("b", b"x", Version(2)), write("a", b"x", Version(0))], (0, 1)),
        (vec![write("c", b"x", Any), write("b", b"x", Any), write("a", b"x", Version(7))], (2, 1)),
    ] {
        let (index, version) = wanted;
        let found = put(stage, batch, None).await?;
        same("a batch that does not hold", found, conflict(index, version))?;
    }
    let found = read(stage, &["a", "b", "c", "d"]).await?;
    same("what stands", found, vec![document(1, b"1"), document(1, b"1"), None, None])
}

async fn a_batch_of_an_earlier_term_writes_nothing(stage: &Stage<'_>) -> Check {
    let (_, held) = stage.holder("a").await?;
    let past = Some(held.epoch);
    let made = put(stage, writes(&["a", "b"], b"1", Absent), past).await?;
    same("a batch of the term", made, written(&[1, 1]))?;
    stage.expire().await;
    let taken = stage.peer("b").await.take(Claim::Expired).await?;
    for precondition in [Any, Absent, Version(1)] {
        let batch = writes(&["a", "b", "new"], b"x", precondition);
        let late = put(stage, batch, past).await?;
        same("a batch after the term", late, BatchOutcome::Fenced)?;
    }
    // What carries a later epoch than was granted fences off all before it.
    let later = Some(taken.epoch.next());
    let ahead = put(stage, writes(&["a", "b"], b"2", Version(1)), later).await?;
    same("a batch of a later epoch", ahead, written(&[2, 2]))?;
    let behind = put(stage, writes(&["a", "b"], b"x", Any), Some(taken.epoch)).await?;
    same("a batch behind it", behind, BatchOutcome::Fenced)?;
    let found = read(stage, &["a", "b", "new"]).await?;
    same("what stands", found, vec![document(2, b"2"), document(2, b"2"), None])
}

/// Lets two batches race, and gives what each came to.
async fn race(
    stage: &Stage<'_>,
    handles: &[Arc<dyn Store>; 2],
    batches: [Vec<DocumentWrite>; 2],
    fence: Option<Epoch>,
) -> Result<[BatchOutcome; 2], CaseError> {
    let start = Arc::new(Barrier::new(2));
    let mut writers = JoinSet::new();
    for (number, batch) in batches.into_iter().enumerate() {
        let (store, space) = (Arc::clone(&handles[number]), stage.namespace.clone());
        let start = Arc::clone(&start);
        writers.spawn(async move {
            start.wait().await;
            (number, store.write_documents(&space, batch, fence).await)
        });
    }
    let mut ended = joined(writers).await?;
    ended.sort_by_key(|(number, _)| *number);
    let mut outcomes = ended.into_iter().map(|(_, outcome)| outcome);
    let mut next = || present("what a writer came to", outcomes.next());
    Ok([next()??, next()??])
}

/// Two handles, and the fences under which they race: none, and that of the present term.
async fn racers(stage: &Stage<'_>) -> Result<([Arc<dyn Store>; 2], [Option<Epoch>; 2]), CaseError> {
    let (_, held) = stage.holder("a").await?;
    let handles = [stage.subject.open().await, stage.subject.open().await];
    Ok((handles, [None, Some(held.epoch)]))
}

/// They name what they share in opposite orders, so that neither may wait for the other for ever.
async fn of_two_batches_that_overlap_one_wins(stage: &Stage<'_>) -> Check {
    let (handles, fences) = racers(stage).await?;
    let names = ["a", "b", "c", "d"];
    let mut before = vec![0; names.len()];
    for round in 0..ROUNDS {
        let fence = fences[round % 2];
        let at = |name: &str| match names.iter().position(|known| *known == name) {
            Some(index) if before[index] > 0 => Version(before[index]),
            _ => Absent,
        };
        let batch = |names: &[&str], body: &[u8]| -> Vec<DocumentWrite> {
            names.iter().map(|name| write(name, body, at(name))).collect()
        };
        let (first, second) = (batch(&["a", "b", "c"], b"1"), batch(&["d", "c", "b"], b"2"));
        let outcomes = race(stage, &handles, [first, second], fence).await?;
        let wins = outcomes.each_ref().map(|it| matches!(it, BatchOutcome::Written(_)));
        holds("the winners", &outcomes, "one", wins[0] != wins[1])?;
        let (winner, own) = if wins[0] { (&b"1"[..], "a") } else { (&b"2"[..], "d") };
        let found = read(stage, &names).await?;
        for (index, name) in names.into_iter().enumerate() {
            let shared = ["b", "c"].contains(&name);
            let rises = u64::from(shared || name == own);
            let version = found[index].as_ref().map_or(0, |document| document.version);
            same(&format!("the version of {name}"), version, before[index] + rises)?;
            if rises > 0 {
                same(&format!("the body of {name}"), &found[index], &document(version, winner))?;
            }
            before[index] = version;
        }
        let loser = &outcomes[usize::from(wins[0])];
        let conflict = |index, at: usize| BatchOutcome::Conflict { index, version: before[at] };
        // The first that it lost is the second of either batch.
        let wanted = if wins[0] { conflict(1, 2) } else { conflict(1, 1) };
        same("what the loser is told", loser, &wanted)?;
    }
    Ok(())
}

async fn batches_without_a_precondition_do_not_mix(stage: &Stage<'_>) -> Check {
    let (handles, fences) = racers(stage).await?;
    let names = ["a", "b", "c", "d"];
    let mut backwards = names;
    backwards.reverse();
    for round in 0..ROUNDS {
        let batches = [writes(&names, b"1", Any), writes(&backwards, b"2", Any)];
        let outcomes = race(stage, &handles, batches, fences[round % 2]).await?;
        let last = 2 * (round as u64 + 1);
        let [first, second] = [last - 1, last].map(|version| written(&[version; 4]));
        let in_turn = outcomes == [first.clone(), second.clone()] || outcomes == [second, first];
        holds("what they came to", &outcomes, "one before the other", in_turn)?;
        let found = read(stage, &names).await?;
        let all = |body: &[u8]| vec![document(last, body); names.len()];
        holds("what stands", &found, "one batch", found == all(b"1") || found == all(b"2"))?;
    }
    Ok(())
}

async fn a_batch_and_a_write_that_create_the_same_document_do_not_mix(stage: &Stage<'_>) -> Check {
    let (handles, fences) = racers(stage).await?;
    for round in 0..ROUNDS {
        let names = ["a", "b", "c"].map(|name| format!("{name}-{round}"));
        let names = names.each_ref().map(String::as_str);
        let batches = [writes(&names, b"1", Absent), writes(&names[1..2], b"2", Absent)];
        let outcomes = race(stage, &handles, batches, fences[round % 2]).await?;
        let found = read(stage, &names).await?;
        let lost = |index| BatchOutcome::Conflict { index, version: 1 };
        let (batch_won, write_won) = ([written(&[1; 3]), lost(0)], [lost(1), written(&[1])]);
        let wanted = match outcomes == batch_won {
            true => vec![document(1, b"1"); 3],
            false => {
                same("what they came to", outcomes, write_won)?;
                vec![None, document(1, b"2"), None]
            }
        };
        same("what stands", found, wanted)?;
    }
    Ok(())
}

/// As many documents as a batch may have, and as many bytes.
fn largest() -> (Vec<String>, Vec<DocumentWrite>) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let mut left = DOCUMENT_BYTES_MAX;
    let names: Vec<String> =
        (0..DOCUMENTS_MAX).map(|number| format!("document/{number}")).collect();
    let batch = names.iter().enumerate().map(|(number, name)| {
        let bytes = left / (DOCUMENTS_MAX - number);
        left -= bytes;
        let body: Vec<u8> = every_byte.iter().copied().cycle().skip(number).take(bytes).collect();
        write(name, &body, Absent)
    });
    let batch = batch.collect();
    (names, batch)
}

async fn a_batch_can_be_as_large_as_the_limits(stage: &Stage<'_>) -> Check {
    let (_, held) = stage.holder("a").await?;
    let (names, batch) = largest();
    let made = put(stage, batch.clone(), Some(held.epoch)).await?;
    same("the largest batch", made, written(&[1; DOCUMENTS_MAX]))?;
    let store = stage.subject.open().await;
    let found = store.read_documents(&stage.namespace, names).await?;
    let wanted = batch.into_iter().map(|write| Some(Document { version: 1, body: write.body }));
    same("whether all of it is read", found == wanted.collect::<Vec<_>>(), true)?;
    let whole = vec![write("whole", &vec![7; DOCUMENT_BYTES_MAX], Absent)];
    same("the largest document", put(stage, whole, None).await?, written(&[1]))?;
    let found = present("the largest document", read(stage, &["whole"]).await?.pop().flatten())?;
    same("its length", found.body.len(), DOCUMENT_BYTES_MAX)
}

async fn a_batch_beyond_the_limits_is_refused_and_changes_nothing(stage: &Stage<'_>) -> Check {
    let (store, space) = (stage.subject.open().await, &stage.namespace);
    let (mut names, batch) = largest();
    let mut heavier = batch.clone();
    heavier[7].body.push(0);
    refused("a byte more", &store.write_documents(space, heavier, None).await)?;
    let mut longer = batch;
    longer.push(write("one more", &[], Any));
    refused("a document more", &store.write_documents(space, longer, None).await)?;
    let large = vec![0; DOCUMENT_BYTES_MAX + 1];
    refused("a large one", &store.write_document(space, "large", large, Any, None).await)?;
    same(
        "what stands",
        store.read_documents(space, names.clone()).await?,
        vec![None; names.len()],
    )?;
    names.push("one more".to_owned());
    refused("a name more", &store.read_documents(space, names).await)?;
    same("what stands", read(stage, &["large", "one more"]).await?, vec![None, None])
}

async fn a_batch_that_names_a_document_twice_is_refused(stage: &Stage<'_>) -> Check {
    let (store, space) = (stage.subject.open().await, &stage.namespace);
    let twice = store.write_documents(space, writes(&["a", "b", "a"], b"x", Any), None).await;
    refused("a write", &twice)?;
    let told = matches!(&twice, Err(error) if error.to_string().contains("\"a\""));
    holds("the error", &twice, "the name", told)?;
    let names = ["a", "b", "b"].map(str::to_owned).to_vec();
    refused("a read", &store.read_documents(space, names).await)?;
    same("what stands", read(stage, &["a", "b"]).await?, vec![None, None])
}

async fn an_empty_batch_is_answered(stage: &Stage<'_>) -> Check {
    let (_, held) = stage.holder_at(2).await?;
    for fence in [None, Some(Epoch(1)), Some(held.epoch)] {
        same("an empty write", put(stage, vec![], fence).await?, written(&[]))?;
    }
    same("an empty read", read(stage, &[]).await?, vec![])
}

async fn a_batch_without_an_answer_is_there_whole_or_not_at_all(stage: &Stage<'_>) -> Check {
    let names = ["a", "b", "c"];
    let mut version = 0;
    for (fault, failure, took_place) in [
        (CallFault::ReplyLost, Failure::Unknown, true),
        (CallFault::RequestLost, Failure::Unknown, false),
        (CallFault::Unreachable, Failure::NotDone, false),
        (CallFault::ReplyLost, Failure::Unknown, true),
    ] {
        let broken = Faults::scripted(stage.subject.open().await, [("write-documents", fault)]);
        let expected = if version == 0 { Absent } else { Version(version) };
        let batch = writes(&names, b"x", expected);
        let failed = broken.write_documents(&stage.namespace, batch.clone(), None).await;
        let failed = failed.map_err(|error| error.failure());
        same("the failure", failed, Err(failure))?;
        // The same batch again: its own versions tell whether it took place.
        let again = broken.write_documents(&stage.namespace, batch, None).await?;
        let next = version + 1;
        let wanted = match took_place {
            true => BatchOutcome::Conflict { index: 0, version: next },
            false => written(&[next; 3]),
        };
        same("the same batch again", again, wanted)?;
        same("what stands", read(stage, &names).await?, vec![document(next, b"x"); 3])?;
        version = next;
    }
    let broken =
        Faults::scripted(stage.subject.open().await, [("write-documents", CallFault::Doubled)]);
    let batch = writes(&names, b"y", Version(version));
    let doubled = broken.write_documents(&stage.namespace, batch, None).await?;
    let conflict = BatchOutcome::Conflict { index: 0, version: version + 1 };
    same("a batch that came twice", doubled, conflict)?;
    same("what stands", read(stage, &names).await?, vec![document(version + 1, b"y"); 3])
}

//! What is appended counts, in order, and once.

use super::super::case::{Check, cases, present, same};
use super::super::stage::Stage;
use super::{CounterClient, DECLARED, append, list, name, reading, refused, step};
use crate::counters::Change::{Add, Set};
use crate::counters::{APPEND_MAX, CounterAnswer, CounterCall, CounterValue};

cases! { "counters":
    additions_are_read_before_and_after_they_are_consolidated needs DECLARED => refused,
    an_append_that_is_repeated_counts_once needs DECLARED => refused,
    an_append_below_the_writers_last_is_too_late needs DECLARED => refused,
    a_set_takes_its_place_among_the_additions needs DECLARED => refused,
    what_sixty_four_bits_do_not_hold_is_marked needs DECLARED => refused,
    counters_differ_by_every_character needs DECLARED => refused,
    counters_are_listed_by_name needs DECLARED => refused,
    the_largest_append_is_taken_whole needs DECLARED => refused,
}

async fn additions_are_read_before_and_after_they_are_consolidated(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    same("before any", client.reading("hits").await?, None)?;
    client.append(&[("hits", Add(5)), ("misses", Add(-2))]).await?;
    client.append(&[("hits", Add(37))]).await?;
    client.stands("hits", 0, 42).await?;
    client.stands("misses", 0, -2).await?;
    client.consolidate(held.epoch, 3).await?;
    client.stands("hits", 42, 42).await?;
    client.stands("misses", -2, -2).await?;
    client.append(&[("hits", Add(-1))]).await?;
    client.stands("hits", 42, 41).await?;
    client.consolidate(held.epoch, 1).await?;
    client.consolidate(held.epoch, 0).await?;
    client.stands("hits", 41, 41).await?;
    let asked = ["misses", "never", "hits", "hits"].map(name).to_vec();
    let found = client.readings(CounterCall::Read { counters: asked }).await?;
    let wanted = vec![reading("hits", 41, 41), reading("misses", -2, -2)];
    same("each once, by name", found, wanted)
}

async fn an_append_that_is_repeated_counts_once(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    let changes = [("hits", Add(3)), ("level", Set(8))];
    client.append(&changes).await?;
    client.repeat(&changes).await?;
    client.stands("hits", 0, 3).await?;
    client.consolidate(held.epoch, 2).await?;
    client.repeat(&changes).await?;
    client.stands("hits", 3, 3).await?;
    client.consolidate(held.epoch, 0).await?;
    // Another writer's first append has the same number and is no repeat.
    let other = CounterClient { writer: 2, ..client };
    other.repeat(&changes).await?;
    other.repeat(&changes).await?;
    other.stands("hits", 3, 6).await?;
    other.consolidate(held.epoch, 2).await?;
    other.stands("hits", 6, 6).await
}

async fn an_append_below_the_writers_last_is_too_late(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let client = CounterClient::new(stage);
    let big = u64::MAX - 1;
    for (number, wanted) in [(2, 10), (1, 10), (9, 20), (10, 30), (9, 30), (big, 40), (10, 40)] {
        client.ask(append(1, number, &[("hits", Add(10))])).await?;
        client.stands("hits", 0, wanted).await?;
    }
    client.consolidate(held.epoch, 4).await?;
    client.ask(append(1, big, &[("hits", Add(10))])).await?;
    client.stands("hits", 40, 40).await
}

async fn a_set_takes_its_place_among_the_additions(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    client.append(&[("level", Add(5))]).await?;
    client.consolidate(held.epoch, 1).await?;
    client.append(&[("level", Add(100)), ("level", Set(7)), ("level", Add(2))]).await?;
    client.append(&[("level", Add(1))]).await?;
    client.stands("level", 5, 10).await?;
    client.consolidate(held.epoch, 4).await?;
    client.stands("level", 10, 10).await?;
    client.append(&[("level", Set(3)), ("level", Set(-4))]).await?;
    client.stands("level", 10, -4).await?;
    client.consolidate(held.epoch, 2).await?;
    client.append(&[("level", Add(1))]).await?;
    client.consolidate(held.epoch, 1).await?;
    client.stands("level", -3, -3).await
}

async fn what_sixty_four_bits_do_not_hold_is_marked(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    for (counter, end, more) in [("up", i64::MAX, 1), ("down", i64::MIN, -1)] {
        client.append(&[(counter, Set(end))]).await?;
        client.stands(counter, 0, end).await?;
        client.consolidate(held.epoch, 1).await?;
        client.stands(counter, end, end).await?;
        client.append(&[(counter, Add(more))]).await?;
        let over = CounterValue { value: end, overflowed: true };
        let found = present("the counter", client.reading(counter).await?)?;
        same("with what is pending", found.current, over)?;
        same("without it", found.consolidated.overflowed, false)?;
        client.consolidate(held.epoch, 1).await?;
        let found = present("the counter", client.reading(counter).await?)?;
        same("consolidated", (found.consolidated, found.current), (over, over))?;
        // The mark stays, although the next sum would fit: one that came before is lost.
        client.append(&[(counter, Add(-more))]).await?;
        client.consolidate(held.epoch, 1).await?;
        let found = present("the counter", client.reading(counter).await?)?;
        same("still marked", found.consolidated.overflowed, true)?;
        client.append(&[(counter, Set(0))]).await?;
        client.consolidate(held.epoch, 1).await?;
        client.stands(counter, 0, 0).await?;
    }
    Ok(())
}

async fn counters_differ_by_every_character(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    let long = "n".repeat(200);
    let names =
        ["hits", "Hits", "hits ", " hits", "hits:a", "hits%", "hïts", "a'b\"\\", "{x}", &long];
    for (at, counter) in (1..).zip(names) {
        client.append(&[(counter, Add(at))]).await?;
    }
    for (at, counter) in (1..).zip(names) {
        client.stands(counter, 0, at).await?;
    }
    client.consolidate(held.epoch, 10).await?;
    for (at, counter) in (1..).zip(names) {
        client.stands(counter, at, at).await?;
    }
    Ok(())
}

async fn counters_are_listed_by_name(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut client = CounterClient::new(stage);
    client.append(&[("web.b", Add(2)), ("Web.a", Add(3)), ("web_c", Add(4))]).await?;
    client.consolidate(held.epoch, 3).await?;
    // One that has not been consolidated yet, and one that has both.
    client.append(&[("web.a", Add(1)), ("web.b", Add(5))]).await?;
    let all = [
        reading("Web.a", 3, 3),
        reading("web.a", 0, 1),
        reading("web.b", 2, 7),
        reading("web_c", 4, 4),
    ];
    for (prefix, after, limit, wanted) in [
        ("", None, 9, &all[..]),
        ("", None, 2, &all[..2]),
        ("", Some("web.a"), 9, &all[2..]),
        ("", Some("web.aa"), 1, &all[2..3]),
        ("web.", None, 9, &all[1..3]),
        ("web.", Some("web.a"), 9, &all[2..3]),
        ("x", None, 9, &[]),
        ("%", None, 9, &[]),
        ("", None, 0, &[]),
    ] {
        let found = client.readings(list(prefix, after, limit)).await?;
        same(&format!("from {after:?} with {prefix:?}"), found, wanted.to_vec())?;
    }
    Ok(())
}

async fn the_largest_append_is_taken_whole(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let client = CounterClient::new(stage);
    let store = stage.subject.open().await;
    let counters: Vec<String> = (0..APPEND_MAX).map(|at| format!("{at:0>200}")).collect();
    let changes: Vec<_> =
        counters.iter().map(|counter| (counter.as_str(), Add(i64::MAX))).collect();
    for _ in 0..2 {
        let answer = step(&*store, &stage.namespace, append(1, 1, &changes)).await?;
        same("the append", answer, CounterAnswer::Appended)?;
    }
    let most = u32::try_from(APPEND_MAX).expect("small");
    client.consolidate(held.epoch, most).await?;
    let found = client.readings(list("", None, most + 1)).await?;
    same("how many there are", found.len(), APPEND_MAX)?;
    let sound =
        |it: &&crate::Reading| it.consolidated.value == i64::MAX && it.current.value == i64::MAX;
    same("how many are right", found.iter().filter(sound).count(), APPEND_MAX)
}

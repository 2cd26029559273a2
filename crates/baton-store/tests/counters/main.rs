//! Random lives of counters on the executable specification: whatever is repeated, lost, crashed,
//! fenced or forgotten, the sum is that of the appends, each once. A store that applies without
//! marking is caught by the same check.

mod life;

use life::{Life, Planted};

#[tokio::test]
async fn the_sum_is_exact_in_every_random_life() {
    for seed in 0..400 {
        let life = Life::lived(seed, Planted::Nothing).await;
        assert_eq!(life.found(), life.wanted(), "seed {seed}");
        assert!(life.repeats() > 0, "seed {seed} repeats nothing");
    }
}

#[tokio::test]
async fn a_store_that_applies_without_marking_is_caught() {
    assert!(Life::some_is_wrong(Planted::AppliesWithoutMarking).await);
}

#[tokio::test]
async fn a_store_that_takes_repeats_for_new_is_caught() {
    assert!(Life::some_is_wrong(Planted::TakesRepeatsForNew).await);
}

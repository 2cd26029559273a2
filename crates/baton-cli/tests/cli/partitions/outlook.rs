//! `baton partitions explain` and `plan`: what the allocator says, without the leader.

use serde_json::Value;

use super::fixture::{Cluster, assert_said};

#[test]
fn what_would_move_is_told_with_counts_and_nothing_moves() {
    let cluster = Cluster::of_two();
    let said = cluster.partitions(&["plan", "--drain", "b"]);
    cluster.here.assert_narrow(&said);
    assert_said(&said, "12 partitions: 6 would move, 6 would stay, 0 would have no owner\n");
    let words = |said: &str, at: usize| {
        let line = said.lines().nth(at).expect("it has that line");
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words(&said.out, 0), "NODE STATE LOAD THEN SHARE CAPACITY GETS GIVES");
    assert_eq!(words(&said.out, 1), "a active 6 12 12 - 6 0");
    assert_eq!(words(&said.out, 2), "b draining 6 0 0 6 0 6");
    assert!(words(&said.out, 7).starts_with("b a 6 default/orders "), "{}", said.out);

    let removed = cluster.partitions(&["plan", "--remove", "a", "--json"]).json();
    assert_eq!((&removed["moves"], &removed["unowned"]), (&0.into(), &6.into()));
    assert_eq!(removed["changes"].as_array().map(Vec::len), Some(6));
    let reason = removed["changes"][0]["reason"].as_str().expect("a sentence");
    assert_eq!(reason, "leaves a and has no owner: all nodes are at their capacity");

    let added = cluster.partitions(&["plan", "--add", "c", "--add", "d,zone=z", "--json"]).json();
    assert_eq!((&added["moves"], &added["partitions"]), (&6.into(), &12.into()));
    let loads: Vec<&Value> =
        added["nodes"].as_array().expect("a list").iter().map(|it| &it["load_then"]).collect();
    assert_eq!(loads, [3, 3, 3, 3]);
    let reason = added["changes"][0]["reason"].as_str().expect("a sentence");
    assert!(reason.contains(" has 6 of a share of 3, "), "{reason}");
    let replaced = cluster.partitions(&["plan", "--remove", "b", "--add", "c", "--json"]).json();
    assert_eq!((&replaced["moves"], &replaced["unowned"]), (&6.into(), &0.into()));
    let reason = replaced["changes"][0]["reason"].as_str().expect("a sentence");
    assert_eq!(reason, "moves from b to c: b is removed");
    cluster.until_loads("as before", &[("a", 6), ("b", 6)]);
}

#[test]
fn a_plan_for_nodes_that_are_not_there_is_refused() {
    let cluster = Cluster::of_two();
    let plan = |flags: &[&str]| cluster.partitions(&[&["plan"], flags].concat());
    plan(&["--drain", "x"]).assert_refused(1, "takes partitions is named x; there is b");
    plan(&["--remove", "A"]).assert_refused(1, "takes partitions is named A; there is a");
    let present = "node a takes partitions already; --add names one that does not";
    plan(&["--add", "a"]).assert_refused(1, present);
    plan(&["--add", "c,zone"]).assert_refused(2, "not a label, write NAME=VALUE, such as zone=a");
    plan(&["--dran", "a"]).assert_refused(2, "--drain");
}

#[test]
fn each_partition_has_a_reason() {
    let cluster = Cluster::of_two();
    let mine = cluster.one_of("a");
    let said = cluster.partitions(&["explain", &mine]);
    assert_eq!(said.out, format!("{mine} stays on a: it has 6 of a share of 6\n"));
    let said = cluster.partitions(&["explain", &mine, "--json"]).json();
    assert_eq!((&said["owner"], &said["wanted"]), (&"a".into(), &"a".into()));
    assert_eq!((&said["partition"], &said["is_releasing"]), (&mine.as_str().into(), &false.into()));
    let said = cluster.partitions(&["explain"]);
    cluster.here.assert_narrow(&said);
    assert_said(&said, "12 partitions: 0 to move, 12 stay, 0 without an owner from then on\n");
    let said = cluster.partitions(&["explain", "orders#12"]);
    said.assert_refused(1, "there is no partition default/orders#12: the task list has 12");
    cluster.partitions(&["explain", "orders"]).assert_refused(2, "has no partition number");
}

//! What people change about partitions: moves by hand, and the pause of moves.

use baton::partitions::TaskList;

use super::fixture::{Cluster, assert_said, owner};

#[test]
fn what_is_moved_by_hand_stays_there_until_the_move_is_forgotten() {
    let cluster = Cluster::of_two();
    let partition = cluster.one_of("b");
    let short = partition.trim_start_matches("default/").to_owned();
    let said = cluster.partitions(&["move", &short, "a"]);
    cluster.here.assert_narrow(&said);
    let expected = format!("{partition} moves from b to a, and is kept there while a takes\n");
    assert_said(&said, &expected);
    let status = cluster.until_owned(&partition, "a");
    assert_eq!(status["moved"][&partition], "a");
    let kept = format!("{partition} is kept on a: it was moved there by hand\n");
    assert_said(&cluster.partitions(&["status"]), &kept);
    let said = cluster.partitions(&["explain", &short]);
    assert_eq!(said.out, format!("{partition} stays on a: it was moved there by hand\n"));
    let said = cluster.partitions(&["move", &short, "a", "--json"]).json();
    assert_eq!((&said["owner"], &said["kept_on"]), (&"a".into(), &"a".into()));

    let said = cluster.partitions(&["forget-move", &short]);
    assert_said(&said, &format!("{partition} is kept on no node any more"));
    cluster.until("the move is forgotten", |it| {
        it["moved"].as_object().is_some_and(serde_json::Map::is_empty)
    });
    let said = cluster.partitions(&["forget-move", &short]);
    said.assert_refused(1, &format!("partition {partition} is not kept on any node by a move"));
}

#[test]
fn a_move_that_cannot_be_is_refused_in_one_line_and_nothing_changes() {
    let mut cluster = Cluster::of_two();
    let mine = cluster.one_of("a");
    let refused = |cluster: &Cluster, arguments: [&str; 2], code, expected: &str| {
        let said = cluster.partitions(&[&["move"], arguments.as_slice()].concat());
        said.assert_refused(code, expected);
    };
    let full = format!("node b is full: it has 6 of its capacity of 6, and {mine} weighs 1");
    refused(&cluster, [&mine, "b"], 1, &full);
    let none = "no live node that takes partitions is named bb; there is b";
    refused(&cluster, [&mine, "bb"], 1, none);
    let beyond = "there is no partition default/orders#12: the task list has 12, and the last one \
                  is number 11";
    refused(&cluster, ["orders#12", "a"], 1, beyond);
    refused(&cluster, ["order#1", "a"], 1, "no task list is named default/order; there is ");
    for (arguments, expected) in [
        (["orders", "a"], "has no partition number: write LIST#NUMBER, such as orders#7"),
        (["orders#x", "a"], "has no partition number"),
        (["or ders#1", "a"], "task list has ' ' at position 3"),
        (["orders#1", "a b"], "node id has ' ' at position 2"),
    ] {
        refused(&cluster, arguments, 2, expected);
    }
    cluster.node("b").set_draining(true);
    cluster.until_loads("b drains", &[("a", 12), ("b", 0)]);
    refused(&cluster, [&mine, "b"], 1, "node b is draining: it gives its partitions away");
    cluster.start("c", &[], &[]);
    cluster.until("no moves", |it| it["moved"].as_object().is_some_and(serde_json::Map::is_empty));
}

#[test]
fn while_moves_are_paused_a_node_that_joins_gets_nothing_that_has_an_owner() {
    let mut cluster = Cluster::new();
    let lists = [TaskList::new("orders".parse().expect("a plain name"), 6)];
    cluster.start("a", &[], &lists);
    cluster.until_loads("all on a", &[("a", 6)]);
    let said = cluster.partitions(&["pause"]);
    cluster.here.assert_narrow(&said);
    assert_said(&said, "moves are paused, until baton partitions resume");
    assert_eq!(cluster.partitions(&["pause", "--json"]).json()["is_paused"], true);
    // Once this list has owners, the leader has read that moves are paused.
    assert_said(&cluster.here.baton(&["tasklists", "add", "mail", "-p", "2"]), "is added");
    cluster.until_loads("the pause is read", &[("a", 8)]);
    cluster.start("b", &[], &lists);
    cluster.until_loads("b is there", &[("a", 8), ("b", 0)]);
    assert_said(&cluster.partitions(&["status"]), "\nmoves are paused: baton partitions resume");
    let said = cluster.partitions(&["explain"]);
    assert_said(&said, "8 partitions: 0 to move, 8 stay, 0 without an owner from then on\n");
    // What has no owner gets one, and the first that is allowed to move does.
    assert_said(
        &cluster.here.baton(&["tasklists", "set", "orders", "--status", "paused"]),
        "paused",
    );
    cluster.until_loads("released", &[("a", 2), ("b", 0)]);
    assert_said(
        &cluster.here.baton(&["tasklists", "set", "orders", "--status", "active"]),
        "active",
    );
    cluster.until_loads("placed", &[("a", 4), ("b", 4)]);
    let mine = cluster.one_of("a");
    assert_said(&cluster.partitions(&["move", &mine, "b"]), "moves from a to b");
    cluster.until_owned(&mine, "b");
    assert_said(&cluster.partitions(&["forget-move", &mine]), "is kept on no node any more");
    cluster.until_loads("as it was left", &[("a", 3), ("b", 5)]);
    assert_said(&cluster.partitions(&["resume"]), "moves go on");
    let status = cluster.until_loads("halves", &[("a", 4), ("b", 4)]);
    assert_eq!(status["is_paused"], false);
    assert!(owner(&status, &mine).is_some());
}

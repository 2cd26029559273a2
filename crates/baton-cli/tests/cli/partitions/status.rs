//! `baton partitions status`: nodes, maps and the picture.

use super::fixture::{Cluster, assert_said};
use crate::support::Sandbox;

#[test]
fn who_owns_what_is_a_line_for_each_node_and_a_map_of_each_list() {
    let cluster = Cluster::of_two();
    let said = cluster.partitions(&["status"]);
    cluster.here.assert_narrow(&said);
    assert_said(&said, "default/orders: 12 partitions, 12 owned\n");
    let lines: Vec<Vec<&str>> =
        said.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["NODE", "PARTITIONS", "TO", "RELEASE", "STATE"]);
    assert_eq!(lines[1], ["a", "a", "6", "0", "active"]);
    assert_eq!(lines[2], ["b", "b", "6", "0", "active"]);
    let cells = lines[5].concat();
    let count = |mark: char| cells.chars().filter(|it| *it == mark).count();
    assert_eq!((cells.len(), count('a'), count('b')), (13, 6, 6), "{cells}");
    assert!(said.out.ends_with(".: no owner\n"), "{}", said.out);

    let status = cluster.partitions(&["status", "--json"]).json();
    assert_eq!(status["owners"].as_array().map(Vec::len), Some(12));
    assert_eq!(status["owners"][0]["partition"], "default/orders#0");
    assert_eq!(status["owners"][0]["token"], 1, "{status}");
    assert_eq!(status["unowned"].as_array().map(Vec::len), Some(0));
    assert_eq!(status["is_paused"], false);
}

#[test]
fn the_picture_has_a_colour_for_each_node_and_all_partitions() {
    let cluster = Cluster::of_two();
    let said = cluster.partitions(&["status", "--plot", "map.svg"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.err, "baton: the picture is in map.svg\n");
    let drawn = std::fs::read_to_string(cluster.here.path("map.svg")).expect("it was written");
    for expected in ["a: 6", "b: 6", "default/orders: 12 partitions, 12 owned", "no owner"] {
        assert!(drawn.contains(expected), "{expected}");
    }
    assert_eq!(drawn.matches("fill=\"#0072b2\"").count(), 2, "the legend and the cells of a");
    let said = cluster.partitions(&["status", "--plot", "no/such/folder.svg"]);
    said.assert_refused(1, "no/such/folder.svg: No such file");
}

#[test]
fn where_there_is_nothing_the_next_step_is_told() {
    let here = Sandbox::new();
    here.baton(&["partitions", "status"]).assert_refused(3, "there is no database at ");
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let advice = "add one: baton tasklists add NAME --partitions 12\n";
    assert_said(&here.baton(&["partitions", "status"]), advice);
    assert_said(&here.baton(&["tasklists", "list"]), advice);
    assert_said(&here.baton(&["tasklists", "add", "mail", "--partitions", "3"]), "is added");
    let said = here.baton(&["partitions", "status"]);
    assert_said(&said, "no live node takes partitions\n");
    assert_said(&said, "default/mail: 3 partitions, 0 owned\n  0  ...\n");
    let said = here.baton(&["partitions", "explain", "mail#1"]);
    assert_eq!(said.out, "default/mail#1 has no owner: no node is active\n");
    let said = here.baton(&["partitions", "plan"]);
    assert_said(&said, "no live node takes partitions; suppose that one joins: --add NODE\n");
    let said = here.baton(&["partitions", "plan", "--add", "x"]);
    assert_said(&said, "3 partitions: 0 would move, 0 would stay, 3 would get an owner, 0 would");
}

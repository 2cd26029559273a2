//! Task lists by hand, and in the file of `baton serve`.

use rustix::process::Signal;

use super::fixture::{Cluster, assert_said};
use crate::support::Sandbox;

#[test]
fn lists_are_added_changed_and_removed_by_hand() {
    let here = Sandbox::new();
    here.baton(&["tasklists", "add", "a", "-p", "4"]).assert_refused(3, "there is no database at ");
    let mut a = here.serve("a", &[]);
    here.until_led_by("a");
    let lists = |arguments: &[&str]| here.baton(&[&["tasklists"], arguments].concat());
    let said = lists(&["add", "orders", "-p", "12", "--require", "disk=ssd", "--weight", "2"]);
    assert_said(&said, "default/orders is added: 12 partitions of weight 2, active\n");
    let said = lists(&["add", "shop/mail", "--partitions", "3", "--json"]).json();
    assert_eq!((&said["id"], &said["declared"]), (&"shop/mail".into(), &false.into()));
    let said = lists(&["list"]);
    here.assert_narrow(&said);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = said.out.lines().map(words).collect();
    assert_eq!(lines[0].join(" "), "NAME PARTITIONS WEIGHT STATUS REQUIRES DECLARED BY");
    assert_eq!(lines[1].join(" "), "default/orders 12 2 active disk=ssd hand");
    assert_said(&lists(&["set", "orders", "--status", "paused", "--require-none"]), "paused\n");
    assert_eq!(lists(&["list", "--json"]).json()[0].get("requires"), None);

    let there = "task list default/orders is there already, with 12 partitions";
    lists(&["add", "orders", "-p", "4"]).assert_refused(1, there);
    lists(&["set", "order", "-p", "4"]).assert_refused(1, "no task list is named default/order;");
    let zero = "task list default/x: partitions is 0; it must be 1 to 1000000";
    lists(&["add", "x", "-p", "0"]).assert_refused(2, zero);
    lists(&["add", "x"]).assert_refused(2, "--partitions <COUNT>");
    lists(&["set", "orders"]).assert_refused(2, "--partitions <COUNT>");
    lists(&["add", "a/b/c", "-p", "4"]).assert_refused(2, "task list has '/' at position 2");
    let many = "the task lists have 1000003 partitions; a namespace can have 1000000";
    lists(&["set", "orders", "-p", "1000000"]).assert_refused(2, many);
    let said = lists(&["remove", "orders"]);
    assert_eq!(
        said.out,
        "default/orders is removed: its owners stop its partitions; 1 task list is left\n"
    );
    a.signal(Signal::TERM);
    assert_eq!(a.ended(), Some(0));
    let said = here.baton(&["partitions", "status"]);
    assert_said(&said, "no node leads now: nothing is assigned or moved until one does\n");
}

#[test]
fn a_node_of_serve_declares_the_lists_of_its_file_and_coordinates_them_for_others() {
    let mut cluster = Cluster::new();
    let text = "[[task_list]]\nname = \"orders\"\npartitions = 4\n\n\
                [[task_list]]\nname = \"shop/mail\"\npartitions = 2\nweight = 3\n\
                requires = { disk = \"ssd\" }\n";
    cluster.here.write("baton.toml", text);
    let _serving = cluster.here.serve("s", &["--config", "baton.toml"]);
    cluster.here.until_led_by("s");
    cluster.start("w", &[], &[]);
    let status = cluster.until_loads("all that w can own", &[("w", 4)]);
    let unowned = status["unowned"].as_array().expect("a list");
    assert_eq!(*unowned, ["shop/mail#0", "shop/mail#1"]);
    assert_eq!(status["nodes"].as_array().map(Vec::len), Some(1), "s owns none: {status}");
    let said = cluster.partitions(&["explain", "shop/mail#1"]);
    assert_eq!(said.out, "shop/mail#1 has no owner: no active node has the labels disk=ssd\n");
    let said = cluster.here.baton(&["tasklists", "remove", "orders"]);
    said.assert_refused(1, "task list default/orders is declared by the service itself");
    let said = cluster.partitions(&["move", "orders#1", "s"]);
    said.assert_refused(1, "no live node that takes partitions is named s; there is w");
}

#[test]
fn tables_of_the_file_are_shown_and_those_that_cannot_be_used_are_refused() {
    let here = Sandbox::new();
    let text = "[[task_list]]\nname = \"orders\"\npartitions = 12\n\
                requires = { disk = \"ssd\" }\n";
    here.write("baton.toml", text);
    let said = here.baton(&["settings", "--config", "baton.toml"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    here.write("again.toml", &said.out);
    let [first, again] = ["baton.toml", "again.toml"].map(|file| {
        let said = here.baton(&["settings", "--config", file, "--json"]).json();
        assert_eq!(said["task_list"]["source"], file);
        said["task_list"]["value"].clone()
    });
    assert_eq!((&first, &first[0]["partitions"]), (&again, &12.into()));
    here.write("baton.toml", &text.repeat(2));
    for command in ["settings", "serve"] {
        let said = here.baton(&[command, "--config", "baton.toml"]);
        let twice = "baton.toml: [[task_list]] 2: two task lists are named default/orders";
        said.assert_refused(2, twice);
    }
    assert!(!here.path("state").exists(), "nothing was opened");
}

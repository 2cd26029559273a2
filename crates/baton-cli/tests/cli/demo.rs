//! `baton demo --partitions`: what it shows is true on any machine, however long it takes there.

use super::support::Sandbox;

#[test]
fn partitions_move_as_little_as_possible_and_never_have_two_owners() {
    let here = Sandbox::new();
    let mut demo = here.command(&["demo", "--partitions", "--json", "--plot", "owners.svg"]);
    // It has time limits of its own, which are long.
    let ended = demo.output().expect("the program is there");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    let summary: serde_json::Value =
        serde_json::from_slice(&ended.stdout).expect("it prints JSON alone");
    assert_eq!(summary["partitions"], 12, "{summary}");
    assert_eq!(summary["double_owners"], 0, "{summary}");
    assert_eq!(summary["tokens_not_risen"], 0, "{summary}");
    let events = summary["events"].as_array().expect("it has events");
    let acts: Vec<&str> = events.iter().filter_map(|event| event["act"].as_str()).collect();
    assert_eq!(acts, ["kill", "drain", "join"]);
    for (event, moved) in events.iter().zip([4, 6, 6]) {
        assert_eq!((&event["moved"], &event["fewest"]), (&moved.into(), &moved.into()), "{event}");
    }
    assert!(said.contains("all 12 partitions have an owner"), "{said}");
    assert!(said.contains("6 moved, all have an owner after"), "{said}");
    let picture = std::fs::read_to_string(here.path("owners.svg")).expect("it was drawn");
    assert!(picture.contains("12 partitions, one owner each at a time"), "{picture}");
    assert!(picture.contains("drain") && picture.contains("join dave"), "{picture}");
}

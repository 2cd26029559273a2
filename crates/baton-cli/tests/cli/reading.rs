//! `status`, `watch`, `history`: over a real store, for people and for programs.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::support::Sandbox;

#[test]
fn the_status_shows_who_leads_and_who_else_is_there() {
    let here = Sandbox::new();
    let _a = here.serve("node-a", &["--label", "zone=x"]);
    here.until_led_by("node-a");
    let _b = here.serve("node-b", &[]);
    let _c = here.serve("node-c", &["--eligible", "false"]);
    let status = here.until("the view has a successor", |status| {
        status["members"].as_array().is_some_and(|members| members.len() == 3)
            && status["successors"].as_array().is_some_and(|next| next.len() == 1)
    });
    assert_eq!(status["epoch"], 1);
    assert_eq!(status["successors"][0], "node-b");
    assert_eq!(status["coordinator"]["lease_timeout_ms"], 20_000);
    assert!(status["coordinator"]["since_ms"].is_u64(), "{status}");
    let states: Vec<&Value> = (0..3).map(|at| &status["members"][at]["state"]).collect();
    assert_eq!(states, ["leader", "candidate", "observer"]);
    assert_eq!(status["members"][0]["labels"]["zone"], "x");

    let said = here.baton(&["status"]);
    here.assert_narrow(&said);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    for expected in ["node-a, epoch 1, for ", "left of 20s", "successors   node-b", "observer"] {
        assert!(said.out.contains(expected), "{expected}: {}", said.out);
    }
    assert!(!said.out.contains('\u{1b}'), "no colours outside of a terminal");
}

#[test]
fn a_namespace_that_was_never_used_is_empty_and_no_error() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let said = here.baton(&["status", "--namespace", "other"]);
    assert_eq!(said.code, Some(0));
    assert!(said.out.contains("none yet") && said.out.contains("no node"), "{}", said.out);
    let said = here.baton(&["history", "--namespace", "other"]);
    assert!(said.out.contains("no node has led namespace other yet"), "{}", said.out);
    let said = here.baton(&["history", "--namespace", "other", "--json"]);
    assert_eq!(said.json(), Value::Array(Vec::new()));
}

#[test]
fn a_namespace_is_listed_once_it_was_led() {
    let here = Sandbox::new();
    let _web = here.serve("node-a", &["--namespace", "web"]);
    let _own = here.serve("node-a", &[]);
    here.until_led_by("node-a");
    here.until("both are listed", |status| {
        let own = status["namespace"].clone();
        let listed = here.baton(&["namespaces", "--namespace", "other", "--json"]).json();
        listed == Value::Array(vec![own, "web".into()])
    });
    let said = here.baton(&["namespaces"]);
    assert_eq!((said.code, said.out.lines().last()), (Some(0), Some("web")));
}

#[test]
fn the_history_has_each_term_with_its_end_and_gap() {
    let here = Sandbox::new();
    let mut a = here.serve("a", &[]);
    here.until_led_by("a");
    a.signal(rustix::process::Signal::TERM);
    assert_eq!(a.ended(), Some(0));
    let _b = here.serve("b", &[]);
    here.until_led_by("b");
    let terms = here.baton(&["history", "--json"]).json();
    assert_eq!((&terms[0]["node"], &terms[0]["to"]), (&"b".into(), &Value::Null));
    assert_eq!((&terms[1]["node"], &terms[1]["epoch"]), (&"a".into(), &1.into()));
    assert_eq!(terms[1]["ended"]["released"], "shutdown");
    assert!(terms[0]["gap_ms"].is_u64() && terms[1]["gap_ms"].is_null(), "{terms}");
    let from = terms[1]["from"].as_str().expect("a stamp");
    assert!(from.ends_with('Z') && from.contains('T'), "{from}");

    let said = here.baton(&["history"]);
    here.assert_narrow(&said);
    assert!(said.out.contains("shut down") && said.out.contains("leads"), "{}", said.out);
    let said = here.baton(&["history", "--limit", "1"]);
    assert_eq!(said.out.lines().count(), 2, "{}", said.out);
}

#[test]
fn the_watch_prints_a_line_for_each_change_and_ends_by_itself() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let arguments = ["watch", "--interval", "20ms", "--changes", "1", "--for", "30s", "--json"];
    let mut command = here.command(&arguments);
    let mut watch = command.stdout(Stdio::piped()).spawn().expect("it was built");
    let mut lines = BufReader::new(watch.stdout.take().expect("it is piped")).lines();
    let mut next = || {
        let line = lines.next()?.expect("UTF-8");
        Some(serde_json::from_str::<Value>(&line).expect("each line is JSON"))
    };
    // Only what happens after the first look is a change.
    let mut changes = vec![next().expect("it tells how it stands")];
    let _b = here.serve("b", &[]);
    changes.extend(std::iter::from_fn(next));
    assert_eq!(watch.wait().expect("it ends").code(), Some(0));
    assert_eq!((&changes[0]["change"], &changes[0]["leader"]), (&"now".into(), &"a".into()));
    assert_eq!((&changes[1]["change"], &changes[1]["node"]), (&"joined".into(), &"b".into()));
    assert_eq!(changes.len(), 2);

    let said = here.baton(&["watch", "--for", "30ms"]);
    assert_eq!((said.code, said.out.lines().count()), (Some(0), 1), "{said:?}");
    assert!(said.out.contains("a leads, epoch 1"), "{}", said.out);
}

#[test]
fn the_watch_ends_well_when_interrupted() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let mut command = here.command(&["watch"]);
    let mut watch = command.stdout(Stdio::piped()).spawn().expect("it was built");
    let mut lines = BufReader::new(watch.stdout.take().expect("it is piped")).lines();
    let line = lines.next().expect("it tells how it stands").expect("UTF-8");
    assert!(line.contains("a leads"), "{line}");
    let pid = i32::try_from(watch.id()).ok().and_then(rustix::process::Pid::from_raw);
    let pid = pid.expect("a child has a process id");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is there");
    assert_eq!(watch.wait().expect("it ends").code(), Some(0));
}

/// What stands after each `#` in the store's files that looks like a key.
fn keys_in(here: &Sandbox) -> Vec<String> {
    let wal = here.database().with_extension("db-wal");
    let read =
        |path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let stored = read(here.database()) + &read(wal);
    let after = stored.split('#').skip(1).map(|rest| rest.chars().take(32).collect::<String>());
    let mut keys: Vec<String> = after
        .filter(|key| key.len() == 32 && key.chars().all(|digit| digit.is_ascii_hexdigit()))
        .collect();
    keys.sort();
    keys.dedup();
    keys
}

/// The key that hints to a process are signed with is in the store, and in nothing that is shown.
#[test]
fn the_key_of_a_lifeline_is_in_no_output() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let _b = here.serve("b", &["--log-format", "json"]);
    here.until("both are there", |status| {
        status["successors"].as_array().is_some_and(|next| next.len() == 1)
    });
    let keys = keys_in(&here);
    assert_eq!(keys.len(), 2, "each process has one: {keys:?}");
    let asked: [&[&str]; 11] = [
        &["status"],
        &["status", "--json"],
        &["watch", "--for", "30ms"],
        &["watch", "--for", "30ms", "--json"],
        &["history", "--json"],
        &["health", "--json"],
        &["plugins", "--json"],
        &["doctor", "--json"],
        &["settings", "--json"],
        &["resign", "--json"],
        &["status", "--json"],
    ];
    let mut shown: Vec<String> = asked
        .iter()
        .map(|arguments| {
            let said = here.baton(arguments);
            assert!(!said.out.is_empty(), "{arguments:?}: {said:?}");
            said.out + &said.err
        })
        .collect();
    for file in ["a.out", "a.err", "b.out", "b.err"] {
        shown.push(std::fs::read_to_string(here.path(file)).expect("it was written"));
    }
    for key in &keys {
        let leak = shown.iter().find(|text| text.contains(key));
        assert_eq!(leak, None, "the key {key} is shown");
    }
    let status = here.status().expect("it answers");
    let address = status["members"][0]["lifeline"].as_str().expect("it has one");
    assert!(address.starts_with("127.0.0.1:") && !address.contains('#'), "{address}");
}

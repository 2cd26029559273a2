//! `--log-format json`: every line on stderr is an object, and stdout stays data.

use rustix::process::Signal;
use serde_json::Value;

use super::support::{Sandbox, lines};

/// Every line as an object that says when, how loud and what.
#[track_caller]
fn logged(text: &[String]) -> Vec<Value> {
    let read = |line: &String| -> Value {
        let line: Value = serde_json::from_str(line).expect("each line is JSON");
        let at = line["at"].as_str().expect("it says when");
        assert!(at.len() == 24 && at.ends_with('Z') && at.as_bytes()[19] == b'.', "{at}");
        let level = line["level"].as_str().expect("it says how loud");
        assert!(["debug", "info", "warn", "error"].contains(&level), "{line}");
        assert!(line["message"].as_str().is_some_and(|words| !words.is_empty()), "{line}");
        line
    };
    text.iter().map(read).collect()
}

#[test]
fn a_node_logs_its_events_with_their_fields_and_leaves_stdout_alone() {
    let here = Sandbox::new();
    let more = ["--log-format", "json", "--verbose", "--metrics", "127.0.0.1:0"];
    let mut a = here.serve("a", &more);
    here.until_written("a.err", |line| line.contains("coordinator-promoted"));
    here.until_written("a.err", |line| line.contains("worker-heartbeat"));
    a.signal(Signal::TERM);
    assert_eq!(a.ended(), Some(0));
    let told = logged(&lines(&here.path("a.err")));
    assert!(told.iter().all(|line| line["namespace"] == "default" && line["node"] == "a"));
    let of = |name: &str| told.iter().find(|line| line["event"] == name).expect("it was told");
    let promoted = of("coordinator-promoted");
    assert_eq!((&promoted["level"], &promoted["epoch"]), (&"info".into(), &1.into()));
    assert_eq!(promoted["message"], "this node leads, epoch 1");
    assert_eq!(of("worker-heartbeat")["level"], "debug");
    // It was given up on purpose.
    assert_eq!(of("coordinator-demoted")["level"], "info");
    let says = |words: &str| {
        told.iter()
            .any(|line| line["message"].as_str().is_some_and(|message| message.contains(words)))
    };
    assert!(says("node a takes part in namespace default") && says("metrics at http://"));
    assert_eq!(lines(&here.path("a.out")), [""; 0]);
}

#[test]
fn events_are_data_on_stdout_too_where_that_is_asked_for() {
    let here = Sandbox::new();
    let mut a = here.serve("a", &["--log-format", "json", "--json"]);
    here.until_led_by("a");
    a.signal(Signal::TERM);
    assert_eq!(a.ended(), Some(0));
    let logged = logged(&lines(&here.path("a.err")));
    let logged: Vec<&Value> = logged.iter().filter(|line| line["event"].is_string()).collect();
    let data = lines(&here.path("a.out"));
    assert_eq!(data.len(), logged.len());
    for (data, logged) in data.iter().zip(logged) {
        let data: Value = serde_json::from_str(data).expect("each line is JSON");
        assert_eq!((&data["event"], data["level"].is_null()), (&logged["event"], true));
    }
}

#[test]
fn run_logs_what_it_does_and_leaves_both_streams_of_the_command_as_they_are() {
    let here = Sandbox::new();
    let script = "echo data; echo theirs >&2; exit 3";
    let start = ["run", "--id", "r", "--skip-cold-start", "--log-format", "json", "--"];
    let said = here.baton(&[&start[..], &["sh", "-c", script]].concat());
    assert_eq!((said.code, said.out.as_str()), (Some(3), "data\n"), "{said:?}");
    let (theirs, ours): (Vec<String>, Vec<String>) =
        said.err.lines().map(str::to_owned).partition(|line| line == "theirs");
    assert_eq!(theirs.len(), 1);
    let told = logged(&ours);
    assert!(told.iter().all(|line| line["node"] == "r"), "{told:?}");
    let has = |key: &str, value: &str| told.iter().any(|line| line[key] == value);
    assert!(has("message", "node r stands by") && has("message", "node r leads in epoch 1"));
    assert!(has("event", "coordinator-promoted") && has("event", "coordinator-demoted"));
    assert!(!has("event", "worker-heartbeat"), "ordinary events are told only on request");
    let start = ["run", "--id", "r", "--skip-cold-start", "--log-format", "json", "--quiet"];
    let said = here.baton(&[&start[..], &["--", "true"]].concat());
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
}

#[test]
fn mistakes_are_objects_too_wherever_the_format_was_asked_for() {
    let here = Sandbox::new();
    let json = [("BATON_LOG_FORMAT", "json")];
    let cases = [
        (
            here.baton(&["serve", "--log-format", "json", "--policy", "best"]),
            2,
            "--policy \"best\"",
        ),
        (
            here.baton(&["serve", "--log-format=json", "--leese-timeout", "5s"]),
            2,
            "--lease-timeout",
        ),
        (here.baton_with(&json, &["status"]), 3, "there is no database at "),
        (here.baton_with(&json, &["statsu"]), 2, "'status'"),
    ];
    for (said, code, expected) in cases {
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{said:?}");
        let told = logged(&said.err.lines().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!((told.len(), &told[0]["level"]), (1, &"error".into()), "{said:?}");
        let message = told[0]["message"].as_str().expect("it says what");
        assert!(message.contains(expected), "{message}");
    }
    let file = here.write("baton.toml", "log_format = 'json'\n");
    let file = file.to_str().expect("a plain name");
    let said = here.baton(&["status", "--config", file]);
    assert_eq!(logged(&said.err.lines().map(str::to_owned).collect::<Vec<_>>()).len(), 1);
    let said = here.baton(&["serve", "--log-format", "xml"]);
    said.assert_refused(2, "--log-format \"xml\" is unknown; choose one of text, json");
}

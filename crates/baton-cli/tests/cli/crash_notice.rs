//! How late a crash is noticed is said before it happens: by the first line of a node, by `status`
//! and by `doctor`.

use serde_json::Value;

use super::support::{Sandbox, lines};

fn findings<'a>(report: &'a Value, check: &str) -> Vec<&'a Value> {
    let findings = report["findings"].as_array().expect("a list").iter();
    findings.filter(|finding| finding["check"] == check).collect()
}

#[test]
fn without_a_lifeline_the_first_line_and_doctor_say_so() {
    let here = Sandbox::new();
    let _a = here.serve("a", &["--no-lifeline"]);
    here.until_led_by("a");
    let said = "a crash of this node will be noticed after 1s 300ms here, because its lifeline is \
                off; set lifeline.enabled to true";
    assert_eq!(lines(&here.path("a.err"))[0], format!("baton: warning: {said}"));
    let again = lines(&here.path("a.out"));
    assert!(!again.iter().any(|line| line.contains(said)), "said twice: {again:?}");
    let report = here.baton(&["doctor", "--json", "--no-lifeline"]).json();
    let crash = findings(&report, "crash")[0];
    assert_eq!(crash["verdict"], "warn");
    assert_eq!(
        crash["detail"],
        "a crash of this node will be noticed after 7s here, because its lifeline is off"
    );
    assert_eq!(crash["remedy"], "set lifeline.enabled to true");
    let run = ["run", "--no-lifeline", "--skip-cold-start", "--namespace", "other"];
    let said = here.baton(&[run.as_slice(), &["--", "true"]].concat());
    assert!(said.err.starts_with("baton: warning: a crash of this node will be "), "{said:?}");
    let said = here.baton(&[run.as_slice(), &["--quiet", "--", "true"]].concat());
    assert!(!said.err.contains("a crash"), "{said:?}");
}

/// A loopback address that the node does not listen on itself is one that no other node reaches.
#[test]
fn a_lifeline_that_the_others_do_not_reach_is_told_by_the_leader_status_and_doctor() {
    let here = Sandbox::new();
    let _a = here.serve("a", &["--lifeline-advertise", "127.0.0.1:1"]);
    here.until_led_by("a");
    let _b = here.serve("b", &[]);
    let status = here.until("b is a successor", |status| status["successors"][0] == "b");
    let because = "its lifeline listens on 127.0.0.1, which b on another host or in another \
                   container does not reach";
    assert_eq!(status["crash"]["because"], because, "{status}");
    let told = here.until_written("a.out", |line| line.contains("a crash of this node will be"));
    assert!(told.contains(because) && told.contains("set lifeline.bind to "), "{told}");
    let said = here.baton(&["status"]);
    here.assert_narrow(&said);
    let line = said.out.lines().find(|line| line.starts_with("crash "));
    let begins = "crash        a crash of a will be noticed after 7s here, because its";
    assert!(line.is_some_and(|line| line.starts_with(begins)), "{}", said.out);
    let report = here.baton(&["doctor", "--json"]).json();
    assert_eq!(findings(&report, "crash")[0]["verdict"], "ok", "{report}");
    let reach = findings(&report, "reach");
    let detail = "the lifeline of a listens on 127.0.0.1:1, which is not reached from here";
    assert_eq!((&reach[0]["detail"], &reach[0]["verdict"]), (&detail.into(), &"warn".into()));
    assert_eq!(reach[1]["verdict"], "ok", "b answers: {report}");
}

#[test]
fn where_a_crash_is_noticed_at_once_nothing_is_said() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let _b = here.serve("b", &[]);
    let status = here.until("b is a successor", |status| status["successors"][0] == "b");
    assert_eq!(status["crash"], Value::Null);
    let report = here.baton(&["doctor", "--json"]).json();
    let verdicts = ["crash", "reach"].map(|check| findings(&report, check));
    assert_eq!(verdicts[1].len(), 2, "both are dialled: {report}");
    assert!(verdicts.iter().flatten().all(|finding| finding["verdict"] == "ok"), "{report}");
    for name in ["a.out", "a.err", "b.out", "b.err"] {
        let said = lines(&here.path(name));
        assert!(!said.iter().any(|line| line.contains("a crash of")), "{name}: {said:?}");
    }
}

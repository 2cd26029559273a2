//! `doctor`: what it finds, and what it leaves behind.

use serde_json::Value;

use super::support::Sandbox;

fn finding<'a>(report: &'a Value, check: &str) -> &'a Value {
    let findings = report["findings"].as_array().expect("a list");
    let found = findings.iter().find(|finding| finding["check"] == check);
    found.unwrap_or_else(|| unreachable!("{check} was not looked at: {report}"))
}

#[test]
fn a_sound_store_is_found_sound_and_left_as_it_was() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let said = here.baton(&["doctor", "--json"]);
    assert!(matches!(said.code, Some(0 | 6)), "{said:?}");
    let report = said.json();
    for check in ["settings", "clock", "lifeline", "death", "store", "can", "beats", "lease"] {
        assert_eq!(finding(&report, check)["verdict"], "ok", "{check}: {report}");
    }
    let epochs = |report: &Value| finding(report, "lease")["detail"].to_string();
    let again = here.baton(&["doctor", "--json"]).json();
    assert_ne!(epochs(&again), epochs(&report), "the trial's epochs go on");

    let trials = here.baton(&["status", "--namespace", "baton-doctor", "--json"]).json();
    assert_eq!(trials["members"], Value::Array(Vec::new()));
    assert!(trials["coordinator"].is_null(), "{trials}");
    assert_eq!(here.until_led_by("a")["epoch"], 1);
    let said = here.baton(&["doctor"]);
    assert!(said.out.contains("200 trial beats: p50 "), "{}", said.out);
}

#[test]
fn the_worst_finding_decides_and_each_has_a_remedy() {
    let here = Sandbox::new();
    let said = here.baton(&["doctor", "--json"]);
    assert_eq!(said.code, Some(6), "{said:?}");
    let report = said.json();
    assert_eq!(
        (&report["worst"], &finding(&report, "store")["verdict"]),
        (&"warn".into(), &"warn".into())
    );
    assert!(!here.path("state").exists(), "the doctor makes no database");

    let said = here.baton(&["doctor", "--json", "--lease-timeout", "8s", "--store", "oracle://x"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let report = said.json();
    assert_eq!(finding(&report, "settings")["verdict"], "fail");
    assert_eq!(finding(&report, "store")["verdict"], "fail");
    for finding in report["findings"].as_array().expect("a list") {
        let is_ok = finding["verdict"] == "ok";
        assert_eq!(finding["remedy"].is_null(), is_ok, "{finding}");
    }
}

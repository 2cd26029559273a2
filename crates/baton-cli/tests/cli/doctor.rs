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

/// What a `[[ttl]]` table names is looked at, and left as it was.
#[test]
fn a_key_that_tells_no_rows_apart_is_found() {
    let here = Sandbox::new();
    let file = here.path("app.db");
    let app = rusqlite::Connection::open(&file).expect("the sandbox can be written to");
    app.execute_batch("CREATE TABLE sessions (id INTEGER PRIMARY KEY, user_id, expires_at TEXT)")
        .expect("the file is ours");
    let store = format!("store = 'sqlite://{}'", file.display());
    let table = |key: &str| format!("[[ttl]]\n{store}\ntable = 'sessions'\nkey = '{key}'\n");
    here.write("baton.toml", &format!("{}{}", table("id"), table("user_id")));
    let report = here.baton(&["doctor", "--json", "--config", "baton.toml"]).json();
    let findings = report["findings"].as_array().expect("a list");
    let found: Vec<&Value> = findings.iter().filter(|it| it["check"] == "ttl").collect();
    assert_eq!(found.len(), 2, "{report}");
    assert_eq!((&found[0]["verdict"], &found[1]["verdict"]), (&"ok".into(), &"fail".into()));
    assert_eq!(found[0]["detail"], "sqlite table sessions can be swept");
    let detail = found[1]["detail"].as_str().expect("it is text");
    assert!(detail.contains("[[ttl]] 2: sqlite table sessions cannot be swept: "), "{detail}");
    assert!(detail.contains("key user_id of table sessions has no unique index"), "{detail}");
    let tables: u32 = app
        .query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'table'", (), |row| row.get(0))
        .expect("it answers");
    assert_eq!(tables, 1, "a look makes nothing");
}

/// What `serve` refuses at its start is found before.
#[test]
fn settings_of_the_clean_up_that_serve_refuses_are_found() {
    let here = Sandbox::new();
    let app = rusqlite::Connection::open(here.path("app.db")).expect("the sandbox is writable");
    app.execute_batch("CREATE TABLE sessions (id INTEGER PRIMARY KEY, expires_at TEXT)")
        .expect("the file is ours");
    let never = "[[ttl]]\nstore = 'sqlite://app.db'\ntable = 'sessions'\nevery = '0s'\n";
    let missing = "[[ttl]]\nstore = 'sqlite://app.db'\ntable = 'session'\n";
    let own = "[own_records]\nforget_dead_after = '5s'\n";
    here.write("baton.toml", &format!("{never}{missing}{own}"));
    let said = here.baton(&["doctor", "--json", "--config", "baton.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let report = said.json();
    let failed = report["findings"].as_array().expect("a list").iter();
    let failed = failed.filter(|finding| finding["verdict"] == "fail");
    let told: Vec<&str> = failed.filter_map(|finding| finding["detail"].as_str()).collect();
    assert_eq!(told.len(), 3, "{report}");
    assert!(told[0].contains("forget_dead_after is 5s; give at least 60s"), "{told:?}");
    assert!(told[1].contains("[[ttl]] 1: every is 0 ms; give at least 1 ms"), "{told:?}");
    assert!(told[2].contains("there is no table session"), "{told:?}");
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

    let both = ["--lease-timeout", "8s", "--heartbeat-interval", "5s"];
    let other = ["doctor", "--json", "--store", "oracle://x"];
    let said = here.baton(&[other.as_slice(), both.as_slice()].concat());
    assert_eq!(said.code, Some(1), "{said:?}");
    let report = said.json();
    assert_eq!(finding(&report, "settings")["verdict"], "fail");
    assert_eq!(finding(&report, "store")["verdict"], "fail");
    for finding in report["findings"].as_array().expect("a list") {
        let is_ok = finding["verdict"] == "ok";
        assert_eq!(finding["remedy"].is_null(), is_ok, "{finding}");
    }
}

//! File, environment and flags, the later the stronger.

use super::support::Sandbox;

#[test]
fn flags_beat_the_environment_which_beats_the_file_which_beats_the_profile() {
    let here = Sandbox::new();
    let text = "profile = 'fast'\nlease_timeout = '4s'\nheartbeat_jitter = '90ms'\n\
                stop_grace = '400ms'\n[labels]\nzone = 'a'\n";
    let file = here.write("baton.toml", text);
    let file = file.to_str().expect("a plain name");
    let variables = [("BATON_HEARTBEAT_JITTER", "80ms"), ("BATON_STOP_GRACE", "300ms")];
    let arguments = ["settings", "--json", "--config", file, "--stop-grace", "200ms"];
    let said = here.baton_with(&variables, &arguments);
    assert_eq!(said.code, Some(0), "{said:?}");
    let settings = said.json();
    let cases = [
        ("request_timeout", "500ms", "profile fast"),
        ("heartbeat_interval", "1s 333ms", "derived from lease_timeout"),
        ("lease_timeout", "4s", file),
        ("heartbeat_jitter", "80ms", "BATON_HEARTBEAT_JITTER"),
        ("stop_grace", "200ms", "--stop-grace"),
        ("namespace", "default", "default"),
    ];
    for (key, value, source) in cases {
        assert_eq!(settings[key]["value"], value, "{key}");
        assert_eq!(settings[key]["source"], source, "{key}");
    }
}

#[test]
fn the_file_may_be_named_by_the_environment_and_a_flag_names_another() {
    let here = Sandbox::new();
    here.write("one.toml", "namespace = 'one'\n");
    here.write("two.toml", "namespace = 'two'\n");
    let namespace = |arguments: &[&str]| {
        let said = here.baton_with(&[("BATON_CONFIG", "one.toml")], arguments);
        said.json()["namespace"]["value"].clone()
    };
    assert_eq!(namespace(&["settings", "--json"]), "one");
    assert_eq!(namespace(&["settings", "--json", "--config", "two.toml"]), "two");
}

#[test]
fn the_older_variables_are_read_and_are_weaker() {
    let here = Sandbox::new();
    let variables = [
        ("COORDINATOR_ELIGIBLE", "false"),
        ("COORDINATOR_ELECTION_INTERVAL", "2500"),
        ("COORDINATOR_TAKEOVER_DELAY", "700"),
        ("BATON_TAKEOVER_DELAY", "900ms"),
    ];
    let settings = here.baton_with(&variables, &["settings", "--json"]).json();
    assert_eq!(settings["eligible"]["value"], false);
    assert_eq!(settings["election_interval"]["value"], "2s 500ms");
    assert_eq!(settings["election_interval"]["source"], "COORDINATOR_ELECTION_INTERVAL");
    assert_eq!(settings["takeover_delay"]["value"], "900ms");
}

#[test]
fn what_cannot_be_used_is_refused_by_source_field_and_value() {
    let here = Sandbox::new();
    let said = here.baton_with(&[("BATON_LEASE_TIMEOUT", "5 parsecs")], &["settings"]);
    let expected = "BATON_LEASE_TIMEOUT=\"5 parsecs\" is not a length of time; \
                    write \"500ms\", \"5s\" or \"2m\"";
    said.assert_refused(2, expected);
    here.write("baton.toml", "leese_timeout = '5s'\n");
    let said = here.baton(&["status", "--config", "baton.toml"]);
    said.assert_refused(
        2,
        "baton.toml: unknown setting leese_timeout; did you mean lease_timeout?",
    );
    here.baton(&["status", "--config", "gone.toml"]).assert_refused(2, "gone.toml: ");
    here.baton(&["serve", "--policy", "best"])
        .assert_refused(2, "--policy \"best\" is unknown; choose one of lexicographic");
    here.baton(&["serve", "--profile", "quick"]).assert_refused(2, "profile \"quick\" is unknown");
}

#[test]
fn what_the_settings_print_can_be_read_again() {
    let here = Sandbox::new();
    let node = ["--id", "n1", "--label", "zone=a", "--store", "sqlite://x.db"];
    let first = "[[ttl]]\nstore = \"postgres://app:hush@db/app\"\ntable = \"sessions\"\n\
                 key = \"id\"\nexpires = \"expires_at\"\n\n[[ttl]]\ntable = \"carts\"\n\
                 key = [\"shop\", \"id\"]\ncreated = \"made_at\"\nage = \"30d\"\n";
    let first = here.write("first.toml", first);
    let first = first.to_str().expect("a plain name");
    let flags = ["settings", "--config", first, "--profile", "fast", "--lease-timeout", "4s"];
    let printed = here.baton(&[flags.as_slice(), node.as_slice()].concat());
    assert_eq!(printed.code, Some(0), "{printed:?}");
    here.assert_narrow(&printed);
    assert_eq!(printed.out.matches("[[ttl]]").count(), 2, "{printed:?}");
    assert!(!printed.out.contains("hush"), "{printed:?}");
    let file = here.write("printed.toml", &printed.out);
    let file = file.to_str().expect("a plain name");
    let again = here.baton(&["settings", "--config", file]);
    let values = |text: &str| -> Vec<String> {
        let before_remark = |line: &str| line.split(" # ").next().unwrap_or_default().to_owned();
        text.lines().map(|line| before_remark(line).trim_end().to_owned()).collect()
    };
    assert_eq!(values(&again.out), values(&printed.out));
}

#[test]
fn a_contradiction_is_shown_with_the_settings_it_comes_from() {
    let both = ["settings", "--lease-timeout", "8s", "--request-timeout", "6s"];
    let said = Sandbox::new().baton(&both);
    assert_eq!(said.code, Some(2));
    assert!(said.out.contains("# --lease-timeout"), "{}", said.out);
    let expected = "lease_timeout (8s) must be at least 12s 131ms 313us 132ns because of \
                    request_timeout (6s)";
    assert!(said.err.contains(expected), "{}", said.err);
}

#[test]
fn one_setting_is_enough_and_what_follows_from_it_is_shown() {
    let here = Sandbox::new();
    let said = here.baton(&["settings", "--lease-timeout", "5s"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    let line = |key: &str| {
        let line = said.out.lines().find(|line| line.starts_with(key));
        line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let derived = "# derived from lease_timeout";
    assert_eq!(line("heartbeat_interval"), format!("heartbeat_interval = \"1s 666ms\" {derived}"));
    assert_eq!(line("min_epoch_duration"), "min_epoch_duration = \"1m\" # default");
    let flags = ["--lease-timeout", "5s", "--stop-grace", "3s"];
    let said = here.baton(&[["settings", "--json"].as_slice(), flags.as_slice()].concat());
    let source = &said.json()["request_timeout"]["source"];
    assert_eq!(source, "derived from lease_timeout and stop_grace");
}

#[test]
fn a_misspelt_variable_is_noticed() {
    let said = Sandbox::new().baton_with(&[("BATON_LEESE_TIMEOUT", "5s")], &["settings"]);
    assert_eq!(said.code, Some(0));
    assert!(said.err.contains("did you mean BATON_LEASE_TIMEOUT?"), "{}", said.err);
}

#[test]
fn a_password_is_never_printed() {
    let here = Sandbox::new();
    let url = "postgres://me:hunter2@db/x?password=hunter2";
    for arguments in [["settings", "--store", url], ["doctor", "--store", url]] {
        let said = here.baton(&arguments);
        assert!(said.out.contains("postgres://me:***@db/x"), "{said:?}");
        assert!(!said.out.contains("hunter2") && !said.err.contains("hunter2"), "{said:?}");
    }
}

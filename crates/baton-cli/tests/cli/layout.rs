//! Help, completions, manual: there, and no wider than a terminal.

use super::support::Sandbox;

const COMMANDS: [&str; 19] = [
    "demo",
    "run",
    "once",
    "serve",
    "status",
    "watch",
    "health",
    "history",
    "namespaces",
    "plugins",
    "transfer",
    "resign",
    "schedules",
    "counters",
    "fences",
    "doctor",
    "settings",
    "completions",
    "man",
];

#[test]
fn every_help_fits_into_80_columns() {
    let here = Sandbox::new();
    for help in ["--help", "-h"] {
        let said = here.baton(&[help]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
        here.assert_narrow(&said);
        for command in COMMANDS {
            let said = here.baton(&[command, help]);
            assert_eq!(said.code, Some(0), "{command}");
            here.assert_narrow(&said);
        }
    }
}

#[test]
fn every_help_of_the_schedules_fits_into_80_columns() {
    let here = Sandbox::new();
    for command in ["list", "show", "next", "pause", "resume", "run", "history"] {
        let said = here.baton(&["schedules", command, "--help"]);
        assert_eq!(said.code, Some(0), "{command}");
        here.assert_narrow(&said);
    }
}

#[test]
fn the_help_begins_with_what_it_is_for_and_ends_with_the_exit_codes() {
    let said = Sandbox::new().baton(&["--help"]);
    assert!(said.out.starts_with("Run something on exactly one of many instances"), "{}", said.out);
    assert!(said.out.contains("Exit codes:\n  0  done\n"), "{}", said.out);
    for command in COMMANDS {
        assert!(said.out.contains(&format!("\n  {command} ")), "{command}");
    }
}

#[test]
fn the_short_help_has_the_common_settings_and_the_long_one_all() {
    let here = Sandbox::new();
    let (short, long) = (here.baton(&["serve", "-h"]).out, here.baton(&["serve", "--help"]).out);
    for flag in ["--lease-timeout", "--store", "--id", "--policy", "--eligible"] {
        assert!(short.contains(flag) && long.contains(flag), "{flag}");
    }
    for flag in ["--half-open-max-attempts", "--contention-rate-limit", "--startup-jitter-min"] {
        assert!(!short.contains(flag) && long.contains(flag), "{flag}");
    }
    assert!(short.lines().count() <= 50, "{short}");
}

#[test]
fn every_shell_gets_completions() {
    let here = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = here.baton(&["completions", shell]);
        assert_eq!(said.code, Some(0), "{shell}");
        assert!(said.out.contains("lease-timeout") && said.out.contains("what-if"), "{shell}");
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let here = Sandbox::new();
    let page = here.baton(&["man"]);
    assert_eq!(page.code, Some(0));
    assert!(page.out.contains(".TH baton 1"), "{}", page.out);
    let folder = here.path("man/man1");
    let said = here.baton(&["man", "--out", folder.to_str().expect("a plain name")]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""));
    for command in COMMANDS {
        let page = std::fs::read_to_string(folder.join(format!("baton-{command}.1")));
        assert!(page.expect("written").len() > 200, "{command}");
    }
    let said = here.baton(&["man", "--out", "/dev/null/man"]);
    said.assert_refused(1, "/dev/null/man: ");
}

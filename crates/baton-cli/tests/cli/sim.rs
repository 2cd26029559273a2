//! `sim`: the simulator behind the same command.

use super::support::Sandbox;

#[test]
fn a_small_campaign_runs_and_prints_json() {
    let said = Sandbox::new().baton(&["sim", "--seeds", "3", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.json().is_object(), "{}", said.out);
}

#[test]
fn its_commands_and_complaints_come_through() {
    let here = Sandbox::new();
    let said = here.baton(&["sim", "what-if", "--help"]);
    assert!(said.out.contains("baton sim what-if") && said.out.contains("[environment]"));
    let said = here.baton(&["sim", "what-if", "--config", "gone.toml"]);
    said.assert_refused(2, "gone.toml");
    here.baton(&["sim", "--seeds", "0"]).assert_refused(2, "0");
}

//! `plugins`: what the leader's plugins do, told by the leader and read by any process.

use std::time::Duration;

use baton::{LifelineConfig, Node, NodeId, Profile, every};
use baton_store::clock::{Clock, SystemClock};
use serde_json::Value;

use super::support::{PATIENCE, Sandbox};

/// A leader in this process, at the sandbox's own store.
async fn coordinator(here: &Sandbox) -> Node {
    let folder = here.path("state/baton");
    std::fs::create_dir_all(folder).expect("the sandbox can be written to");
    let store = baton::open(&format!("sqlite://{}", here.database().display())).await;
    let minute = Duration::from_secs(60);
    let good = every("reports", minute, |_| async { Ok(()) });
    let bad = every("mail", minute, |_| async { Err("the server hangs up".into()) });
    Node::builder(store.expect("a new file"))
        .id(NodeId::new("node-a").expect("valid"))
        .profile(Profile::Fast)
        .tune(|settings| settings.skip_cold_start = true)
        .lifeline(LifelineConfig::off())
        .plugin(good)
        .plugin(bad)
        .build()
        .expect("it starts")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_process_sees_what_runs_how_long_it_took_what_failed_and_when_it_is_due() {
    let here = Sandbox::new();
    let node = coordinator(&here).await;
    let told = |told: &Value| {
        let (first, second) = (&told["plugins"][0], &told["plugins"][1]);
        first["runs"] == 1 && second["failures"].as_u64().is_some_and(|count| count >= 1)
    };
    let mut bulletin = Value::Null;
    let gives_up_at = SystemClock.now() + PATIENCE;
    while !told(&bulletin) {
        assert!(SystemClock.now() < gives_up_at, "last seen: {bulletin}");
        let said = here.baton(&["plugins", "--json"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        bulletin = said.json();
    }
    assert_eq!((&bulletin["node"], &bulletin["epoch"]), (&"node-a".into(), &1.into()));
    let reports = &bulletin["plugins"][0];
    assert_eq!((&reports["name"], &reports["doing"]), (&"reports".into(), &"resting".into()));
    let (at, next) = (&reports["last"]["at_ms"], &reports["next_run_ms"]);
    let wait = next.as_u64().zip(at.as_u64()).map(|(next, at)| next - at);
    assert!(wait.is_some_and(|ms| ms >= 60_000), "{reports}");
    assert_eq!(bulletin["plugins"][1]["last"]["error"], "the server hangs up");

    let said = here.baton(&["plugins"]);
    here.assert_narrow(&said);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    for expected in
        ["node-a, epoch 1, reported ", "reports", "waiting", "mail failed: the server hangs"]
    {
        assert!(said.out.contains(expected), "{expected}: {}", said.out);
    }
    node.leave().await;
    let said = here.baton(&["plugins"]);
    assert!(
        said.out.contains("epoch 1, which is over") && said.out.contains("stopped"),
        "{said:?}"
    );
}

#[test]
fn a_namespace_without_plugins_says_so() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let said = here.baton(&["plugins", "--namespace", "other"]);
    assert_eq!(said.code, Some(0));
    assert!(said.out.contains("no plugin has run in namespace other yet"), "{}", said.out);
    let said = here.baton(&["plugins", "--namespace", "other", "--json"]);
    assert_eq!(said.json(), Value::Null);
}

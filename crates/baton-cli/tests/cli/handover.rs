//! `transfer` and `resign`: between real processes.

use baton_core::ids::NodeId;

use super::support::Sandbox;

#[test]
fn a_transfer_names_who_leads_and_how_long_it_took() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let _b = here.serve("b", &[]);
    here.until("b is a successor", |status| status["successors"][0] == "b");
    let said = here.baton(&["transfer", "--to", "b", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let done = said.json();
    assert_eq!((&done["previous"], &done["leader"]), (&"a".into(), &"b".into()));
    assert_eq!((&done["previous_epoch"], &done["epoch"]), (&1.into(), &2.into()));
    assert!(done["took_ms"].as_u64().is_some_and(|ms| ms < 10_000), "{done}");
    here.until_led_by("b");
}

#[test]
fn a_resignation_brings_the_next_in_line() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let _b = here.serve("b", &[]);
    here.until("b is a successor", |status| status["successors"][0] == "b");
    let said = here.baton(&["resign"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.starts_with("b leads, epoch 2, after a (epoch 1); it took "), "{}", said.out);
}

#[test]
fn a_node_that_cannot_lead_is_refused_with_the_reason() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let _b = here.serve("b", &["--eligible", "false"]);
    here.until("b is there", |status| status["members"][1]["state"] == "observer");
    let to = |node| here.baton(&["transfer", "--to", node]);
    to("a").assert_refused(1, "a leads already");
    to("b").assert_refused(1, "b may not lead; start it without --eligible false");
    to("zz").assert_refused(1, "zz is not registered; there is no other candidate");
    to("a/b").assert_refused(2, "--to: node id has '/'");
    assert_eq!(here.until_led_by("a")["epoch"], 1);
}

#[test]
fn a_node_that_was_killed_is_refused_with_how_long_it_has_been_silent() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let b = here.serve("b", &[]);
    let _c = here.serve("c", &[]);
    here.until("both are successors", |status| {
        status["successors"].as_array().is_some_and(|next| next.len() == 2)
    });
    b.signal(rustix::process::Signal::KILL);
    let limits = [("BATON_WORKER_TIMEOUT", "2s"), ("BATON_DEAD_NODE_TIMEOUT", "2s")];
    here.until("b has been silent for long", |status| {
        status["members"][1]["silent_ms"].as_u64().is_some_and(|ms| ms > 2_000)
    });
    let said = here.baton_with(&limits, &["transfer", "--to", "b"]);
    said.assert_refused(1, "b is dead: silent for ");
    assert!(said.err.contains("more than dead_node_timeout 2s; candidates are c"), "{said:?}");
    assert_eq!(here.until_led_by("a")["epoch"], 1);
}

#[test]
fn a_node_on_its_way_out_is_refused() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let url = format!("sqlite://{}", here.database().display());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let store = runtime.expect("a runtime").block_on(baton::open(&url)).expect("it is there");
    let id = NodeId::new("d").expect("valid");
    let node = baton::Node::builder(store).id(id).profile(baton::Profile::Fast);
    let node = node.build().expect("it starts");
    node.set_draining(true);
    here.until("d is draining", |status| status["members"][1]["state"] == "draining");
    let said = here.baton(&["transfer", "--to", "d"]);
    said.assert_refused(1, "d is leaving; there is no other candidate: start one");
}

#[test]
fn a_node_that_started_since_the_leader_last_read_the_records_is_handed_leadership_at_once() {
    let here = Sandbox::new();
    // The leader reads the records with its beats, and the next one is too late for this test.
    let seldom = ["--lease-timeout", "10m", "--heartbeat-interval", "3m"];
    let _a = here.serve_leased("a", &seldom);
    here.until_led_by("a");
    let _b = here.serve_leased("b", &seldom);
    here.until("b is registered", |status| status["members"][1]["node"] == "b");
    let said = here.baton(&["transfer", "--to", "b", "--timeout", "25s"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    here.until_led_by("b");
}

#[test]
fn a_node_that_was_killed_a_moment_ago_is_not_offered_as_a_candidate() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let mut b = here.serve("b", &[]);
    let _c = here.serve("c", &[]);
    here.until("both are successors", |status| {
        status["successors"].as_array().is_some_and(|next| next.len() == 2)
    });
    b.signal(rustix::process::Signal::KILL);
    assert_eq!(b.ended(), None, "it was killed");
    let said = here.baton(&["transfer", "--to", "web-9"]);
    said.assert_refused(1, "web-9 is not registered; candidates are c");
    assert!(!said.err.contains("b, c"), "{said:?}");
}

#[test]
fn where_no_node_leads_no_node_can_be_asked() {
    let here = Sandbox::new();
    let mut a = here.serve("a", &[]);
    here.until_led_by("a");
    a.signal(rustix::process::Signal::TERM);
    assert_eq!(a.ended(), Some(0));
    here.baton(&["resign"]).assert_refused(1, "no node leads namespace default");
    here.baton(&["transfer", "--to", "b"]).assert_refused(1, "no node leads namespace default");
}

#[test]
fn a_coordinator_that_does_not_answer_is_told_after_the_timeout() {
    let here = Sandbox::new();
    let a = here.serve("a", &[]);
    here.until_led_by("a");
    a.signal(rustix::process::Signal::STOP);
    let said = here.baton(&["resign", "--timeout", "200ms"]);
    said.assert_refused(4, "a has not handed over within 200ms");
}

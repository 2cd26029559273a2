//! `--metrics`: figures and health of a node over HTTP.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use rustix::process::Signal;

use super::support::Sandbox;

/// What is answered at a path of the endpoint that this line of stderr tells of.
fn get(told: &str, path: &str) -> String {
    get_from("localhost", told, path)
}

/// The same, asked for by this name.
fn get_from(host: &str, told: &str, path: &str) -> String {
    let address = told.split("http://").nth(1).and_then(|url| url.split('/').next());
    let address = address.expect("the line has an address");
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers in text");
    answer
}

#[test]
fn a_node_tells_where_its_metrics_are_and_serves_them() {
    let here = Sandbox::new();
    let flags = ["--metrics", "127.0.0.1:0", "--metrics-hosts", "a.example,b.example"];
    let mut a = here.serve("a", &flags);
    here.until_led_by("a");
    let told = here.until_written("a.err", |line| line.contains("metrics at http://127.0.0.1:"));
    assert!(told.starts_with("baton: ") && told.ends_with("/metrics"), "{told}");
    let figures = get(&told, "/metrics");
    assert!(figures.contains("\nbaton_leader{namespace=\"default\",node=\"a\"} 1\n"), "{figures}");
    assert!(get(&told, "/leader").starts_with("HTTP/1.1 200 "), "it leads");
    assert!(get(&told, "/readyz").starts_with("HTTP/1.1 200 "), "it is ready");
    let ours = get_from("b.example:9090", &told, "/readyz");
    assert!(ours.starts_with("HTTP/1.1 200 "), "{ours}");
    let foreign = get_from("evil.example", &told, "/readyz");
    assert!(foreign.starts_with("HTTP/1.1 421 ") && !foreign.contains("ready"), "{foreign}");
    a.signal(Signal::TERM);
    assert_eq!(a.ended(), Some(0));
}

#[test]
fn a_port_in_use_is_refused_and_nothing_starts() {
    let here = Sandbox::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    for command in [&["serve"][..], &["run"]] {
        let end: &[&str] = if command == ["run"] { &["--", "true"] } else { &[] };
        let said = here.baton(&[command, &["--metrics", &address], end].concat());
        said.assert_refused(1, &format!("metrics cannot be served on {address}"));
    }
    let said = here.baton(&["serve", "--metrics", "9090"]);
    said.assert_refused(2, "--metrics \"9090\" is not an address with a port");
    let said = here.baton(&["serve", "--metrics-hosts", "http://a"]);
    said.assert_refused(2, "--metrics-hosts \"http://a\" is not a list of host names");
}

#[test]
fn without_the_setting_no_port_is_opened_and_nothing_is_told() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let said = std::fs::read_to_string(here.path("a.err")).expect("its stderr is a file");
    assert!(!said.contains("http://"), "{said}");
    let settings = here.baton_with(&[("BATON_METRICS", "127.0.0.1:0")], &["settings", "--json"]);
    assert_eq!(settings.json()["metrics"]["source"], "BATON_METRICS");
}

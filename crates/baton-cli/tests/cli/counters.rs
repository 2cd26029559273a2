//! `counters`: counted by scripts, consolidated by a node that serves.

use serde_json::Value;

use super::support::Sandbox;

fn line(said: &Value, counter: &str) -> (i64, i64, i64) {
    let lines = said.as_array().expect("a list");
    let found = lines.iter().find(|line| line["counter"] == counter).expect("it was counted");
    let number = |name: &str| found[name].as_i64().expect("a number");
    (number("value"), number("consolidated"), number("pending"))
}

#[test]
fn what_is_counted_is_shown_at_once_and_consolidated_when_asked() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let said = here.baton(&["counters", "list"]);
    assert_eq!(said.out, "there are no counters in namespace default yet\n");
    for change in [["add", "orders", "5"], ["sub", "stock", "5"], ["set", "price", "-250"]] {
        let said = here.baton(&[&["counters"][..], &change].concat());
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), "", ""));
    }
    let said = here.baton(&["counters", "add", "orders", "2", "--json"]).json();
    assert_eq!(said["counter"], "orders");
    let said = here.baton(&["counters", "get", "orders", "stock", "--json"]).json();
    assert_eq!((line(&said, "orders").0, line(&said, "stock").0), (7, -5));

    let said = here.baton(&["counters", "consolidate", "--json"]);
    assert_eq!((said.code, said.json()["consolidated"].as_bool()), (Some(0), Some(true)));
    let said = here.baton(&["counters", "list", "--json"]).json();
    assert_eq!(line(&said, "orders"), (7, 7, 0));
    assert_eq!(line(&said, "price"), (-250, -250, 0));
    let said = here.baton(&["counters", "list", "--prefix", "st"]);
    here.assert_narrow(&said);
    let words: Vec<&str> = said.out.split_whitespace().collect();
    assert_eq!(words[4..], ["stock", "-5", "-5", "-"], "{}", said.out);
}

#[test]
fn what_makes_no_sense_is_refused_and_what_was_never_counted_told() {
    let here = Sandbox::new();
    let said = here.baton(&["counters", "add", "orders", "1"]);
    said.assert_refused(3, "there is no database at ");
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let said = here.baton(&["counters", "add", "or\u{7}ders", "1"]);
    said.assert_refused(2, "the counter's name has the control character");
    let said = here.baton(&["counters", "sub", "orders", "-9223372036854775808"]);
    said.assert_refused(2, "orders cannot be lowered by -9223372036854775808");
    let said = here.baton(&["counters", "add", "orders", "many"]);
    assert_eq!(said.code, Some(2));
    let said = here.baton(&["counters", "get", "orders"]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(said.err.contains("no such counter in namespace default: orders"), "{}", said.err);
    let said =
        here.baton(&["counters", "consolidate", "--namespace", "empty", "--timeout", "100ms"]);
    assert_eq!(said.code, Some(4));
    assert!(said.err.contains("nothing was consolidated within 100ms"), "{}", said.err);
}

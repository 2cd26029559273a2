//! `[[schedule]]` tables of the file: shown by `settings`, and refused before anything starts.

use crate::support::Sandbox;

/// A line beside those of a sound table, or the whole table, and what is said of it.
const REFUSED: [(&str, &str); 33] = [
    ("+crn = 'x'", "unknown setting crn in [[schedule]] 1; did you mean cron?"),
    ("+colour = 1", "unknown setting colour in [[schedule]] 1; known are name, cron, "),
    ("cron = '0 2 * * *'\ncommand = ['x']", "[[schedule]] 1: name is missing; write name = "),
    (
        "name = ''\ncron = '0 2 * * *'\ncommand = ['x']",
        "[[schedule]] 1: schedule name is empty; give 1 to 100 letters",
    ),
    (
        "name = 'a b'\ncron = '0 2 * * *'\ncommand = ['x']",
        "[[schedule]] 1: schedule name \"a b\" has a character that is not allowed, at position 2",
    ),
    ("name = 5", "[[schedule]] 1: name = 5 must be text, in quotes"),
    (
        "name = 'report'\ncommand = ['x']",
        "[[schedule]] 1: schedule report: cron is missing; write cron = \"0 2 * * *\", or every",
    ),
    (
        "+every = '5m'",
        "[[schedule]] 1: schedule report: every = \"5m\" stands beside cron; name one of the two",
    ),
    (
        "name = 'report'\nevery = '5m'\ntz = 'UTC'\ncommand = ['x']",
        "schedule report: tz = \"UTC\" cannot stand beside every, which counts elapsed time",
    ),
    (
        "name = 'report'\nevery = '500ms'\ncommand = ['x']",
        "schedule report: every is 500ms; it must be at least 1s",
    ),
    (
        "name = 'report'\nevery = 'often'\ncommand = ['x']",
        "schedule report: every = \"often\" is not a length of time",
    ),
    (
        "name = 'report'\ncron = '0 0 30 2 *'\ncommand = ['x']",
        "[[schedule]] 1: schedule report: cron expression \"0 0 30 2 *\": it never comes: no month \
         that it names has such a day of the month (here: 0 0 >>30<< 2 *)",
    ),
    (
        "name = 'report'\ncron = '61 2 * * *'\ncommand = ['x']",
        "schedule report: cron expression \"61 2 * * *\": minute 61 is not within 0 to 59",
    ),
    (
        "name = 'report'\ncron = '0 2 * *'\ncommand = ['x']",
        "schedule report: cron expression \"0 2 * *\": it has 4 fields; write 5 (minute, hour, ",
    ),
    (
        "+tz = 'Europe/Berln'",
        "schedule report: tz \"Europe/Berln\" is not a known time zone, did you mean \
         Europe/Berlin?; write a name such as",
    ),
    (
        "+daylight = 'twice'",
        "schedule report: daylight = \"twice\" is unknown; choose one of once, elapsed",
    ),
    (
        "name = 'report'\ncron = '@daily'",
        "schedule report: command is missing; write command = [\"./report\", \"--daily\"]",
    ),
    (
        "name = 'report'\ncron = '@daily'\ncommand = './report --daily'",
        "schedule report: command = \"./report --daily\" must be an array: the program, then its \
         arguments, as in [\"./report\", \"--daily\"]; for a line of shell write",
    ),
    (
        "name = 'report'\ncron = '@daily'\ncommand = []",
        "schedule report: command = [] names no program; write [\"./report\", \"--daily\"]",
    ),
    (
        "name = 'report'\ncron = '@daily'\ncommand = ['', 'x']",
        "schedule report: command = [\"\", \"x\"] names no program",
    ),
    (
        "name = 'report'\ncron = '@daily'\ncommand = ['sleep', 5]",
        "schedule report: command = [\"sleep\", 5] must be an array of texts",
    ),
    (
        "+misfire = 'never'",
        "schedule report: misfire = \"never\" is unknown; choose one of skip, once, catch-up",
    ),
    ("+catch_up_cap = 5", "schedule report: catch_up_cap = 5 goes with misfire = \"catch-up\""),
    (
        "+misfire = 'once'\ncatch_up_age = '1h'",
        "schedule report: catch_up_age = \"1h\" goes with misfire = \"catch-up\"",
    ),
    (
        "+misfire = 'catch-up'\ncatch_up_cap = 0",
        "schedule report: the cap of misfire catch-up is 0; it must be 1 to 100",
    ),
    (
        "+misfire = 'catch-up'\ncatch_up_cap = 101",
        "schedule report: the cap of misfire catch-up is 101; it must be 1 to 100",
    ),
    ("+grace = 'soon'", "schedule report: grace = \"soon\" is not a length of time; write "),
    (
        "+overlap = 'both'",
        "schedule report: overlap = \"both\" is unknown; choose one of allow, skip, queue, replace",
    ),
    (
        "+on_crash = 'again'",
        "schedule report: on_crash = \"again\" is unknown; choose one of retry, skip",
    ),
    ("+jitter = '25h'", "schedule report: jitter is 1day 1h; it must be 0s to 1day"),
    ("+timeout = 5", "schedule report: timeout = 5 is not a length of time; write "),
    ("+retries = -1", "schedule report: retries = -1 is not a whole number from 0 to "),
    ("+retries = 101", "schedule report: retries is 101; it must be 0 to 100"),
];

#[test]
fn what_cannot_be_used_is_refused_with_file_table_schedule_and_field() {
    let here = Sandbox::new();
    let refused = |text: &str, expected: &str| {
        here.write("baton.toml", text);
        let said = here.baton(&["settings", "--config", "baton.toml"]);
        said.assert_refused(2, &format!("baton.toml: {}", expected.trim_start()));
    };
    let within = |text: &str, expected: &str| {
        here.write("baton.toml", text);
        let said = here.baton(&["settings", "--config", "baton.toml"]);
        said.assert_refused(2, expected);
        assert!(said.err.starts_with("baton: baton.toml: "), "{said:?}");
        assert!(said.err.contains("[[schedule]] 1"), "{said:?}");
    };
    let sound = "name = 'report'\ncron = '0 2 * * *'\ncommand = ['./report']\n";
    for (given, expected) in REFUSED {
        match given.strip_prefix('+') {
            Some(line) => within(&format!("[[schedule]]\n{sound}{line}\n"), expected),
            None => within(&format!("[[schedule]]\n{given}\n"), expected),
        }
    }
    let twice = format!("[[schedule]]\n{sound}").repeat(2);
    refused(&twice, "[[schedule]] 2: two schedules are named report: each name can be used once");
    refused("schedule = 'report'", "schedule must be tables; write each under a line [[schedule]]");
    here.write("baton.toml", &twice);
    for command in ["serve", "doctor"] {
        let said = here.baton(&[command, "--config", "baton.toml"]);
        said.assert_refused(2, "[[schedule]] 2: two schedules are named report");
    }
    assert!(!here.path("state").exists(), "nothing was opened");
}

#[test]
fn settings_show_the_tables_as_a_file_that_can_be_read_again() {
    let here = Sandbox::new();
    let text = "[[schedule]]\nname = \"report\"\ncron = \"0 2 * * *\"\ntz = \"Europe/Berlin\"\n\
                command = [\"./report\", \"--daily\"]\nmisfire = \"catch-up\"\n\n\
                [[schedule]]\nname = \"tick\"\nevery = \"5m\"\ncommand = [\"./tick\"]\n";
    here.write("baton.toml", text);
    let said = here.baton(&["settings", "--config", "baton.toml"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    here.assert_narrow(&said);
    here.write("again.toml", &said.out);
    let [first, again] = ["baton.toml", "again.toml"].map(|file| {
        let said = here.baton(&["settings", "--config", file, "--json"]).json();
        assert_eq!(said["schedule"]["source"], file);
        said["schedule"]["value"].clone()
    });
    assert_eq!(first, again);
    assert_eq!(first[0]["command"][1], "--daily");
    assert_eq!(first[1]["every"], "5m");
    let none = here.baton(&["settings", "--json"]).json();
    assert!(none.get("schedule").is_none(), "{none}");
}

//! A scenario: what every node shows, and exactly which alerts fire; promtool judges it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use baton_testbed::PROMTOOL;
use serde::Serialize;

use super::series::{Scrape, Series, series};

/// One alert, and when it fires.
pub struct Fires {
    pub alert: &'static str,
    /// Its labels, as in `namespace="billing"`.
    pub labels: &'static str,
    /// A minute in which it fires.
    pub at: usize,
    /// A later minute in which it does so no more.
    pub over: Option<usize>,
}

/// Nodes, and what is to come of it.
pub struct Scenario {
    name: &'static str,
    /// From one scrape to the next.
    step_s: usize,
    minutes: usize,
    series: Vec<Series>,
    fires: Vec<Fires>,
}

impl Scenario {
    /// Nothing yet: scraped, and its rules looked at, every quarter of a minute.
    pub fn new(name: &'static str) -> Self {
        Self { name, step_s: 15, minutes: 0, series: Vec::new(), fires: Vec::new() }
    }

    /// Scraped once a minute only.
    pub fn every_minute(mut self) -> Self {
        self.step_s = 60;
        self
    }

    /// A node, with its scrapes one after another.
    pub fn node(mut self, namespace: &str, node: &str, parts: &[Vec<Scrape>]) -> Self {
        let scrapes = parts.concat();
        self.minutes = self.minutes.max(scrapes.len() * self.step_s / 60);
        self.series.extend(series(namespace, node, &scrapes));
        self
    }

    /// This alert fires, and of all others only those that are named too.
    pub fn fires(
        mut self,
        alert: &'static str,
        labels: &'static str,
        at: usize,
        over: impl Into<Option<usize>>,
    ) -> Self {
        self.fires.push(Fires { alert, labels, at, over: over.into() });
        self
    }

    /// Which alerts fire in it.
    pub fn alerts(&self) -> impl Iterator<Item = &Fires> {
        self.fires.iter()
    }

    /// What promtool is to check: the whole set of what ever fired, and each alert at its moments.
    fn checks(&self) -> Vec<Check> {
        let labels = |fires: &Fires| format!(r#"alertname="{}",{}"#, fires.alert, fires.labels);
        let sample = |fires| Sample { labels: format!("{{{}}}", labels(fires)), value: 1 };
        let group = |what: String| {
            format!("group by (alertname, namespace, node, plugin, schedule) ({what})")
        };
        let check = |expr: &str, minute: usize, exp_samples| Check {
            expr: expr.to_owned(),
            eval_time: format!("{minute}m"),
            exp_samples,
        };
        let over = self.minutes + 1;
        let ever = group(format!(r#"count_over_time(ALERTS{{alertstate="firing"}}[{over}m])"#));
        let all = self.fires.iter().map(sample).collect();
        let mut checks = vec![check(&ever, self.minutes, all)];
        for fires in &self.fires {
            let one = group(format!(r#"ALERTS{{alertstate="firing",{}}}"#, labels(fires)));
            checks.push(check(&one, fires.at, vec![sample(fires)]));
            checks.extend(fires.over.map(|over| check(&one, over, Vec::new())));
        }
        checks
    }

    /// Runs it with the rules of this file. An error is what promtool says.
    pub fn judge(&self, rules: &Path) -> Result<(), String> {
        let promtool = PROMTOOL.find();
        let promtool = promtool.unwrap_or_else(|missing| unreachable!("for the alerts: {missing}"));
        let folder = tempfile::tempdir().expect("a folder");
        let test = folder.path().join("test.json");
        let step = format!("{}s", self.step_s);
        let content = Document {
            rule_files: [rules.canonicalize().expect("the rules are there")],
            evaluation_interval: &step,
            tests: [Test {
                name: self.name,
                interval: &step,
                input_series: &self.series,
                promql_expr_test: self.checks(),
            }],
        };
        let content = serde_json::to_string(&content).expect("it has text and numbers only");
        std::fs::write(&test, content).expect("it can be written");
        let ran = Command::new(promtool).args(["test", "rules"]).arg(&test).output();
        let ran = ran.expect("promtool runs");
        if ran.status.success() {
            return Ok(());
        }
        let said = [ran.stdout, ran.stderr].concat();
        Err(format!("{}: {}", self.name, String::from_utf8_lossy(&said)))
    }
}

/// A file of promtool's unit tests.
#[derive(Serialize)]
struct Document<'a> {
    rule_files: [PathBuf; 1],
    evaluation_interval: &'a str,
    tests: [Test<'a>; 1],
}

#[derive(Serialize)]
struct Test<'a> {
    name: &'a str,
    interval: &'a str,
    input_series: &'a [Series],
    promql_expr_test: Vec<Check>,
}

#[derive(Serialize)]
struct Check {
    expr: String,
    eval_time: String,
    exp_samples: Vec<Sample>,
}

#[derive(Serialize)]
struct Sample {
    labels: String,
    value: u32,
}

/// The labels of an alert.
pub fn label_names(fires: &Fires) -> BTreeSet<String> {
    let labels = fires.labels.split(',').filter_map(|label| label.split_once('='));
    labels.map(|(name, _)| name.to_owned()).collect()
}

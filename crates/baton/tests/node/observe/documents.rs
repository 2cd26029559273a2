//! The documents keep what they promise: every name in them is in a real scrape, and the other way
//! round.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use baton::cron;
use baton::partitions::TaskList;
use baton::plugins::ttl::{OwnRecords, Ttl};
use serde_json::Value;

use super::client::{anywhere, scrape};
use super::figures::Busy;
use super::parse::Scrape;
use super::promql::{Asked, Query};
use crate::cluster::{builder, soon, store, until};

/// A file of the documentation.
pub fn document(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).expect("the document is there")
}

/// A scrape with everything in it that a node can say.
async fn full_scrape() -> Scrape {
    let ttl = Ttl::new().own_records(OwnRecords::default());
    let node = builder(&store(), "a").plugin(Busy("busy".to_owned())).plugin(ttl);
    let report = cron("report", "0 2 * * *", |_| std::future::ready(Ok(())));
    let lists = TaskList::new("orders".parse().expect("a plain name"), 1);
    let node = node.schedule(report).task_list(lists).metrics(anywhere());
    let node = node.build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    until("some beats", || node.metrics().heartbeat_count >= 4).await;
    scrape(&node).await
}

fn dashboard() -> Value {
    serde_json::from_str(&document("grafana/baton.json")).expect("the dashboard is JSON")
}

fn panels(dashboard: &Value) -> &Vec<Value> {
    dashboard["panels"].as_array().expect("a dashboard has panels")
}

/// Every query of the dashboard, those of its variables among them.
fn dashboard_queries(dashboard: &Value) -> Vec<String> {
    let mut queries = Vec::new();
    gather_queries(dashboard, &mut queries);
    queries
}

fn gather_queries(value: &Value, queries: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(query) if name == "expr" || name == "definition" => {
                        queries.push(query.to_owned());
                    }
                    _ => gather_queries(value, queries),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| gather_queries(item, queries)),
        _ => {}
    }
}

/// The rules' queries, each on a line of its own.
fn alert_queries() -> Vec<String> {
    let text = document("grafana/alerts.yaml");
    let of = |key: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim_start);
        lines.filter_map(|line| line.strip_prefix(key).map(|rest| rest.trim().to_owned())).collect()
    };
    let (names, queries) = (of("- alert:"), of("expr:"));
    assert!(names.len() >= 6, "{names:?}");
    assert_eq!(names.len(), queries.len(), "each alert has one query, on one line");
    assert_eq!(names.len(), of("summary:").len(), "and says what it means");
    assert_eq!(names.len(), of("severity:").len(), "and how bad that is");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    queries
}

/// Everything that the query names is in the scrape: metric, labels, and values that are spelt out.
#[track_caller]
fn assert_answered(text: &str, scrape: &Scrape) {
    let query = Query::read(text);
    assert!(!query.asked.is_empty(), "it asks for nothing of baton's: {text}");
    let mut known = BTreeSet::new();
    for Asked { metric, matchers } in &query.asked {
        let samples = scrape.samples.get(metric);
        let samples = samples.unwrap_or_else(|| unreachable!("no {metric} in a scrape: {text}"));
        for (label, operator, value) in matchers {
            let has = samples.iter().filter_map(|(labels, _)| labels.get(label));
            let values: BTreeSet<&str> = has.map(String::as_str).collect();
            assert!(!values.is_empty(), "{metric} has no label {label}: {text}");
            let spelt_out = operator.starts_with('=') && !value.contains('$');
            for value in value.split('|').filter(|_| spelt_out) {
                assert!(values.contains(value), "{label} is never {value:?}: {text}");
            }
        }
        known.extend(samples.iter().flat_map(|(labels, _)| labels.keys().cloned()));
    }
    for label in &query.kept {
        assert!(known.contains(label), "no metric has a label {label}: {text}");
    }
}

#[tokio::test]
async fn every_query_of_the_dashboard_and_of_the_alerts_is_answered_by_a_real_scrape() {
    let scrape = full_scrape().await;
    let dashboard = dashboard();
    let queries = dashboard_queries(&dashboard);
    assert!(queries.len() >= panels(&dashboard).len() / 2, "{queries:?}");
    for query in queries.iter().filter(|query| query.contains("baton_")) {
        assert_answered(query, &scrape);
    }
    for query in alert_queries() {
        assert_answered(&query, &scrape);
    }
}

#[tokio::test]
async fn the_document_has_every_metric_with_its_type_and_labels_and_no_other() {
    let scrape = full_scrape().await;
    let mut documented = BTreeMap::new();
    for line in document("metrics.md").lines().filter(|line| line.starts_with("| `baton_")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let labels: BTreeSet<String> = cells[3]
            .split(',')
            .map(|label| label.trim().trim_matches('`').to_owned())
            .filter(|label| !label.is_empty())
            .collect();
        let name = cells[1].trim_matches('`').to_owned();
        let row = (cells[2].to_owned(), labels);
        assert!(documented.insert(name, row).is_none(), "twice: {line}");
    }
    // Those of every metric or of its type; `kind` is on the series of services alone.
    let own = ["namespace", "node", "le", "quantile", "kind"];
    let suffixes = ["", "_bucket", "_sum", "_count"];
    let served = scrape.kinds.iter().map(|(name, kind)| {
        let samples = suffixes.iter().filter_map(|suffix| {
            let histogram = kind == "histogram" || kind == "summary" || suffix.is_empty();
            scrape.samples.get(&format!("{name}{suffix}")).filter(|_| histogram)
        });
        let labels = samples.flatten().flat_map(|(labels, _)| labels.keys());
        let labels = labels.filter(|label| !own.contains(&label.as_str())).cloned();
        (name.clone(), (kind.clone(), labels.collect::<BTreeSet<String>>()))
    });
    let served: BTreeMap<_, _> = served.collect();
    assert_eq!(documented, served);
}

#[test]
fn the_dashboard_can_be_loaded_panels_have_ids_of_their_own_and_do_not_overlap() {
    let dashboard = dashboard();
    assert!(dashboard["schemaVersion"].as_u64().is_some_and(|version| version >= 39));
    assert_eq!(dashboard["templating"]["list"][0]["type"], "datasource");
    let mut ids = BTreeSet::new();
    let mut taken: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for panel in panels(&dashboard) {
        let id = panel["id"].as_u64().expect("a panel has an id");
        assert!(ids.insert(id), "two panels have id {id}");
        let title = panel["title"].as_str().expect("a panel has a title");
        let is_row = panel["type"] == "row";
        assert!(is_row || panel["description"].is_string(), "{title} says how to read it");
        assert_eq!(panel["targets"].is_array(), !is_row, "{title}");
        let side = |name: &str| panel["gridPos"][name].as_u64().expect("a panel has its place");
        let (x, y, w, h) = (side("x"), side("y"), side("w"), side("h"));
        assert!(x + w <= 24 && w > 0 && h > 0, "{title} fits into the grid");
        for cell in (x..x + w).flat_map(|column| (y..y + h).map(move |row| (column, row))) {
            assert_eq!(taken.insert(cell, id), None, "{title} overlaps another panel");
        }
        let queries = panel["targets"].as_array().into_iter().flatten();
        let names: BTreeSet<&str> = queries.map(|it| it["refId"].as_str().expect("A")).collect();
        let count = panel["targets"].as_array().map_or(0, Vec::len);
        assert_eq!(names.len(), count, "{title}: queries of one panel have names of their own");
    }
    assert!(ids.len() >= 15, "{ids:?}");
}

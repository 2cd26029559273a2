//! A strict reader of the text format: what a lenient one would let pass fails the test.

use std::collections::{BTreeMap, BTreeSet};

/// The labels of a sample.
pub type Labels = BTreeMap<String, String>;

/// A scrape, taken apart.
#[derive(Debug, Default)]
pub struct Scrape {
    /// The type of each family.
    pub kinds: BTreeMap<String, String>,
    /// By the sample's full name.
    pub samples: BTreeMap<String, Vec<(Labels, f64)>>,
}

impl Scrape {
    /// Reads it, and checks every rule of the format on the way.
    pub fn read(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line ends too");
        let mut scrape = Self::default();
        let mut helped = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut current = String::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect("a name and a meaning");
                assert!(!help.trim().is_empty(), "{name} says what it means");
                assert!(helped.insert(name.to_owned()), "{name} is explained once");
                current = name.to_owned();
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("a name and a type");
                assert_eq!(name, current, "the type follows the meaning");
                assert!(["counter", "gauge", "histogram", "summary"].contains(&kind), "{line}");
                scrape.kinds.insert(name.to_owned(), kind.to_owned());
            } else {
                let (name, labels, value) = sample(line);
                let kind = scrape.kinds.get(&current).expect("the type stands before the samples");
                assert!(belongs(&name, &current, kind), "{name} stands under {current}");
                assert!(seen.insert((name.clone(), labels.clone())), "twice: {line}");
                assert!(kind != "counter" || value >= 0.0, "a counter is never below 0: {line}");
                scrape.samples.entry(name).or_default().push((labels, value));
            }
        }
        scrape.check_names();
        scrape.check_histograms();
        scrape
    }

    /// The number of this name with these labels among its own.
    #[track_caller]
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let samples = self.samples.get(name).map_or(&[][..], Vec::as_slice);
        let fits = |(have, _): &&(Labels, f64)| {
            labels.iter().all(|(label, value)| have.get(*label).is_some_and(|has| has == value))
        };
        let found: Vec<f64> = samples.iter().filter(fits).map(|(_, value)| *value).collect();
        assert_eq!(found.len(), 1, "{name} {labels:?}: {found:?}");
        found[0]
    }

    /// All numbers of this name, added up.
    pub fn sum(&self, name: &str, fits: impl Fn(&Labels) -> bool) -> f64 {
        let samples = self.samples.get(name).into_iter().flatten();
        samples.filter(|(labels, _)| fits(labels)).map(|(_, value)| value).sum()
    }

    fn check_names(&self) {
        for (name, kind) in &self.kinds {
            assert!(name.starts_with("baton_"), "{name} is baton's own");
            assert!(is_name(name, true), "{name} is a legal name");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name} is a {kind}");
        }
        for (name, samples) in &self.samples {
            for (labels, _) in samples {
                let named = labels.contains_key("namespace") && labels.contains_key("node");
                assert!(named, "{name} says whose it is: {labels:?}");
            }
        }
    }

    fn check_histograms(&self) {
        for name in self.kinds.iter().filter(|(_, kind)| *kind == "histogram").map(|kind| kind.0) {
            let mut by_series: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
            for (labels, count) in self.samples.get(&format!("{name}_bucket")).into_iter().flatten()
            {
                let mut labels = labels.clone();
                let bound = labels.remove("le").expect("a bucket has a bound");
                let bound = bound.replace("+Inf", "inf").parse().expect("a number");
                by_series.entry(labels).or_default().push((bound, *count));
            }
            for (labels, buckets) in by_series {
                let rises = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
                assert!(buckets.windows(2).all(rises), "{name} {labels:?}: {buckets:?}");
                let (bound, all) = buckets[buckets.len() - 1];
                let whose: Vec<(&str, &str)> =
                    labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                let count = self.value(&format!("{name}_count"), &whose);
                assert!(bound.is_infinite() && all == count, "{name} {labels:?}: {buckets:?}");
            }
        }
    }
}

/// May a sample of this name stand in that family?
fn belongs(name: &str, family: &str, kind: &str) -> bool {
    let suffixes: &[&str] = match kind {
        "histogram" => &["_bucket", "_sum", "_count"],
        "summary" => &["", "_sum", "_count"],
        _ => &[""],
    };
    name.strip_prefix(family).is_some_and(|suffix| suffixes.contains(&suffix))
}

fn is_name(name: &str, colons: bool) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || (colons && c == ':');
    name.chars().all(legal) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty()
}

fn sample(line: &str) -> (String, Labels, f64) {
    let at = line.find(['{', ' ']).expect("a name ends");
    let (name, rest) = line.split_at(at);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => read_labels(rest),
        None => (Labels::new(), rest),
    };
    let number = rest.strip_prefix(' ').expect("one space before the number");
    let number = match number {
        "+Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        number => number.parse().expect("a number"),
    };
    (name.to_owned(), labels, number)
}

/// Labels up to the closing brace, and what follows it.
fn read_labels(mut rest: &str) -> (Labels, &str) {
    let mut labels = Labels::new();
    loop {
        let (name, after) = rest.split_once("=\"").expect("a label has a value");
        assert!(is_name(name, false), "{name} is a legal label");
        let (value, after) = read_quoted(after);
        assert!(labels.insert(name.to_owned(), value).is_none(), "{name} stands once");
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None => return (labels, after.strip_prefix('}').expect("a closing brace")),
        }
    }
}

fn read_quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &text[at + 1..]),
            '\\' => match characters.next().expect("something is escaped").1 {
                'n' => value.push('\n'),
                escaped @ ('\\' | '"') => value.push(escaped),
                other => unreachable!("{other} is not to be escaped"),
            },
            plain => value.push(plain),
        }
    }
    unreachable!("the value has no end: {text}")
}

//! Figures as data: families of samples, each with a name, a meaning and a kind. Their text is
//! Prometheus' exposition format, version 0.0.4, which every monitoring system reads.

use std::fmt::{self, Display, Formatter, Write as _};

/// How a family's samples are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyKind {
    /// Only grows, and begins at 0 with the process.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Buckets, a sum and a count.
    Histogram,
    /// Quantiles of what came last, a sum and a count.
    Summary,
}

impl FamilyKind {
    /// Its name in the exposition format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Summary => "summary",
        }
    }
}

/// One number.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sample {
    /// What follows the family's name: `_sum`, `_count`, `_bucket` or nothing.
    pub suffix: &'static str,
    /// Whose number it is. Namespace and node are always among them.
    pub labels: Vec<(&'static str, String)>,
    /// The number.
    pub value: f64,
}

impl Sample {
    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(label, _)| *label == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// All numbers of one name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Family {
    /// Its name, which begins with `baton_`.
    pub name: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// How the numbers are to be read.
    pub kind: FamilyKind,
    /// The numbers.
    pub samples: Vec<Sample>,
}

/// What one node, or several nodes of one process, say of themselves at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NodeMetrics {
    /// The families, each name once.
    pub families: Vec<Family>,
}

impl NodeMetrics {
    /// The family of this name.
    pub fn family(&self, name: &str) -> Option<&Family> {
        self.families.iter().find(|family| family.name == name)
    }

    /// The one number of this name that has all of these labels.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let has = |sample: &&Sample| {
            sample.suffix.is_empty()
                && labels.iter().all(|(label, value)| sample.label(label) == Some(*value))
        };
        self.family(name)?.samples.iter().find(has).map(|sample| sample.value)
    }

    /// Takes another node's numbers in.
    pub fn join(&mut self, other: Self) {
        for family in other.families {
            match self.families.iter_mut().find(|mine| mine.name == family.name) {
                Some(mine) => mine.samples.extend(family.samples),
                None => self.families.push(family),
            }
        }
    }
}

/// Gathers one node's families.
pub(crate) struct MetricsBuilder {
    node_labels: [(&'static str, String); 2],
    families: Vec<Family>,
}

/// Labels beside those that name the node.
pub(crate) type Labels<'a> = &'a [(&'static str, &'a str)];

impl MetricsBuilder {
    pub(crate) fn new(namespace: &str, node: &str) -> Self {
        let node_labels = [("namespace", namespace.to_owned()), ("node", node.to_owned())];
        Self { node_labels, families: Vec::new() }
    }

    /// Begins a family; what follows belongs to it.
    pub(crate) fn family(
        &mut self,
        kind: FamilyKind,
        name: &'static str,
        help: &'static str,
    ) -> &mut Self {
        self.families.push(Family { name, help, kind, samples: Vec::new() });
        self
    }

    /// A number of the family that was begun last.
    pub(crate) fn put(
        &mut self,
        suffix: &'static str,
        further: Labels<'_>,
        value: f64,
    ) -> &mut Self {
        let further = further.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let labels = self.node_labels.iter().cloned().chain(further).collect();
        let family = self.families.last_mut().expect("a family was begun");
        family.samples.push(Sample { suffix, labels, value });
        self
    }

    pub(crate) fn gauge(&mut self, name: &'static str, help: &'static str, value: f64) {
        self.family(FamilyKind::Gauge, name, help).put("", &[], value);
    }

    pub(crate) fn counter(&mut self, name: &'static str, help: &'static str, value: f64) {
        self.family(FamilyKind::Counter, name, help).put("", &[], value);
    }

    pub(crate) fn build(self) -> NodeMetrics {
        NodeMetrics { families: self.families }
    }
}

impl Display for NodeMetrics {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.families.iter().try_for_each(|family| family.fmt(f))
    }
}

impl Display for Family {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, kind, samples, .. } = self;
        f.write_str("# HELP ")?;
        write!(f, "{name} ")?;
        escape(f, self.help, false)?;
        writeln!(f, "\n# TYPE {name} {}", kind.name())?;
        samples.iter().try_for_each(|sample| write_sample(f, name, sample))
    }
}

fn write_sample(f: &mut Formatter<'_>, name: &str, sample: &Sample) -> fmt::Result {
    write!(f, "{name}{}", sample.suffix)?;
    for (index, (label, value)) in sample.labels.iter().enumerate() {
        f.write_str(if index == 0 { "{" } else { "," })?;
        write!(f, "{label}=\"")?;
        escape(f, value, true)?;
        f.write_char('"')?;
    }
    f.write_str(if sample.labels.is_empty() { " " } else { "} " })?;
    write_number(f, sample.value)?;
    f.write_char('\n')
}

/// Backslashes and line ends never stand bare; quotes matter within a label alone.
fn escape(f: &mut Formatter<'_>, text: &str, in_label: bool) -> fmt::Result {
    text.chars().try_for_each(|character| match character {
        '\\' => f.write_str("\\\\"),
        '\n' => f.write_str("\\n"),
        '"' if in_label => f.write_str("\\\""),
        other => f.write_char(other),
    })
}

fn write_number(f: &mut Formatter<'_>, number: f64) -> fmt::Result {
    match number {
        f64::INFINITY => f.write_str("+Inf"),
        f64::NEG_INFINITY => f.write_str("-Inf"),
        nan if nan.is_nan() => f.write_str("NaN"),
        number => write!(f, "{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_written_with_its_meaning_first() {
        let mut builder = MetricsBuilder::new("web", "a");
        builder.gauge("baton_leader", "Does it lead?", 1.0);
        builder
            .family(FamilyKind::Histogram, "baton_x_seconds", "How long x took.")
            .put("_bucket", &[("le", "0.5")], 2.0)
            .put("_bucket", &[("le", "+Inf")], 3.0)
            .put("_sum", &[], 1.25)
            .put("_count", &[], 3.0);
        let expected = "\
# HELP baton_leader Does it lead?
# TYPE baton_leader gauge
baton_leader{namespace=\"web\",node=\"a\"} 1
# HELP baton_x_seconds How long x took.
# TYPE baton_x_seconds histogram
baton_x_seconds_bucket{namespace=\"web\",node=\"a\",le=\"0.5\"} 2
baton_x_seconds_bucket{namespace=\"web\",node=\"a\",le=\"+Inf\"} 3
baton_x_seconds_sum{namespace=\"web\",node=\"a\"} 1.25
baton_x_seconds_count{namespace=\"web\",node=\"a\"} 3
";
        assert_eq!(builder.build().to_string(), expected);
    }

    #[test]
    fn what_would_end_a_line_or_a_label_is_escaped() {
        let mut builder = MetricsBuilder::new("a\"b", "c\\d\ne");
        builder.gauge("baton_leader", "One \"line\",\nno \\ more", 0.0);
        let expected = "\
# HELP baton_leader One \"line\",\\nno \\\\ more
# TYPE baton_leader gauge
baton_leader{namespace=\"a\\\"b\",node=\"c\\\\d\\ne\"} 0
";
        assert_eq!(builder.build().to_string(), expected);
    }

    #[test]
    fn numbers_without_a_decimal_form_have_their_names() {
        let mut builder = MetricsBuilder::new("web", "a");
        let values = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-7, 1e21];
        for value in values {
            builder.gauge("baton_x", "x", value);
        }
        let text = builder.build().to_string();
        let numbers: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.rsplit(' ').next())
            .collect();
        assert_eq!(numbers, ["+Inf", "-Inf", "NaN", "0.0000001", "1000000000000000000000"]);
    }

    #[test]
    fn nodes_of_one_process_share_their_families() {
        let one = |node| {
            let mut builder = MetricsBuilder::new("web", node);
            builder.gauge("baton_leader", "Does it lead?", 1.0);
            builder.build()
        };
        let mut both = one("a");
        both.join(one("b"));
        assert_eq!(both.to_string().matches("# TYPE").count(), 1);
        assert_eq!(both.value("baton_leader", &[("node", "b")]), Some(1.0));
        assert_eq!(both.value("baton_leader", &[("node", "c")]), None);
    }
}

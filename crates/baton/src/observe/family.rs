//! Figures as data: families of samples, each with a name, a meaning and a kind.

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

/// Writes one node's families down.
pub(crate) struct Book {
    whose: [(&'static str, String); 2],
    families: Vec<Family>,
}

/// Labels beside the node's own.
pub(crate) type More<'a> = &'a [(&'static str, &'a str)];

impl Book {
    pub(crate) fn new(namespace: &str, node: &str) -> Self {
        let whose = [("namespace", namespace.to_owned()), ("node", node.to_owned())];
        Self { whose, families: Vec::new() }
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
    pub(crate) fn put(&mut self, suffix: &'static str, more: More<'_>, value: f64) -> &mut Self {
        let more = more.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let labels = self.whose.iter().cloned().chain(more).collect();
        let family = self.families.last_mut().expect("a family was begun");
        family.samples.push(Sample { suffix, labels, value });
        self
    }

    /// A family of one number that goes up and down.
    pub(crate) fn gauge(&mut self, name: &'static str, help: &'static str, value: f64) {
        self.family(FamilyKind::Gauge, name, help).put("", &[], value);
    }

    /// A family of one number that only grows.
    pub(crate) fn counter(&mut self, name: &'static str, help: &'static str, value: f64) {
        self.family(FamilyKind::Counter, name, help).put("", &[], value);
    }

    pub(crate) fn close(self) -> NodeMetrics {
        NodeMetrics { families: self.families }
    }
}

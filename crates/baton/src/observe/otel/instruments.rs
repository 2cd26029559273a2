//! The figures as instruments that are asked when the provider collects: the same names with dots,
//! without `_total`.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Meter};

use crate::observe::{FamilyKind, NodeMetrics, Sample, gather};
use crate::shared::Shared;

/// Every instrument is asked in turn: within this time they share one look at the node.
const LOOK_LASTS: Duration = Duration::from_millis(100);

/// The node's figures, looked at once for all instruments of a collection.
struct Looked {
    /// An instrument lasts as long as its provider, and has nothing to say of a node that is gone.
    node: Weak<Shared>,
    last: Mutex<Option<(Moment, Arc<NodeMetrics>)>>,
}

impl Looked {
    fn figures(&self) -> Option<Arc<NodeMetrics>> {
        let now = SystemClock.now();
        let mut last = self.last.lock().expect("no holder panics");
        if let Some((_, figures)) = last.as_ref().filter(|(at, _)| now.since(*at) < LOOK_LASTS) {
            return Some(figures.clone());
        }
        let figures = self.node.upgrade().map(|node| Arc::new(gather(&node)));
        *last = figures.clone().map(|figures| (now, figures));
        figures
    }

    fn observe(&self, family: &str, observer: &dyn AsyncInstrument<f64>) {
        let Some(figures) = self.figures() else { return };
        let samples = figures.family(family).map_or(&[][..], |family| &family.samples);
        for sample in samples.iter().filter(|sample| sample.suffix.is_empty()) {
            observer.observe(sample.value, &attributes(sample));
        }
    }
}

fn attributes(sample: &Sample) -> Vec<KeyValue> {
    let labels = sample.labels.iter();
    labels.map(|(label, value)| KeyValue::new(*label, value.clone())).collect()
}

/// The name under which a family goes here.
fn dotted(family: &str) -> String {
    family.strip_suffix("_total").unwrap_or(family).replace('_', ".")
}

/// Makes an instrument of every family.
pub fn install(meter: &Meter, node: &Arc<Shared>) {
    let looked = Arc::new(Looked { node: Arc::downgrade(node), last: Mutex::default() });
    for family in &gather(node).families {
        let (name, looked) = (family.name, looked.clone());
        let unit = if name.contains("_seconds") { "s" } else { "1" };
        match family.kind {
            FamilyKind::Counter => drop(
                meter
                    .f64_observable_counter(dotted(name))
                    .with_description(family.help)
                    .with_unit(unit)
                    .with_callback(move |observer| looked.observe(name, observer))
                    .build(),
            ),
            FamilyKind::Gauge | FamilyKind::Summary => drop(
                meter
                    .f64_observable_gauge(dotted(name))
                    .with_description(family.help)
                    .with_unit(unit)
                    .with_callback(move |observer| looked.observe(name, observer))
                    .build(),
            ),
            // The layer around the store records it call by call.
            FamilyKind::Histogram => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_dots_and_no_total() {
        let cases = [
            ("baton_leader", "baton.leader"),
            ("baton_store_operations_total", "baton.store.operations"),
            ("baton_leaderless_seconds_total", "baton.leaderless.seconds"),
        ];
        for (family, name) in cases {
            assert_eq!(dotted(family), name);
        }
    }
}

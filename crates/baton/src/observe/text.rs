//! Prometheus' text exposition format, version 0.0.4, which every monitoring system reads.

use std::fmt::{self, Display, Formatter, Write as _};

use super::family::{Family, NodeMetrics, Sample};

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
    use super::super::family::{Book, FamilyKind};

    #[test]
    fn a_family_is_written_with_its_meaning_first() {
        let mut book = Book::new("web", "a");
        book.gauge("baton_leader", "Does it lead?", 1.0);
        book.family(FamilyKind::Histogram, "baton_x_seconds", "How long x took.")
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
        assert_eq!(book.close().to_string(), expected);
    }

    #[test]
    fn what_would_end_a_line_or_a_label_is_escaped() {
        let mut book = Book::new("a\"b", "c\\d\ne");
        book.gauge("baton_leader", "One \"line\",\nno \\ more", 0.0);
        let expected = "\
# HELP baton_leader One \"line\",\\nno \\\\ more
# TYPE baton_leader gauge
baton_leader{namespace=\"a\\\"b\",node=\"c\\\\d\\ne\"} 0
";
        assert_eq!(book.close().to_string(), expected);
    }

    #[test]
    fn numbers_without_a_decimal_form_have_their_names() {
        let mut book = Book::new("web", "a");
        let values = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-7, 1e21];
        for value in values {
            book.gauge("baton_x", "x", value);
        }
        let text = book.close().to_string();
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
            let mut book = Book::new("web", node);
            book.gauge("baton_leader", "Does it lead?", 1.0);
            book.close()
        };
        let mut both = one("a");
        both.join(one("b"));
        assert_eq!(both.to_string().matches("# TYPE").count(), 1);
        assert_eq!(both.value("baton_leader", &[("node", "b")]), Some(1.0));
        assert_eq!(both.value("baton_leader", &[("node", "c")]), None);
    }
}

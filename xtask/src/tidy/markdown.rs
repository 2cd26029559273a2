//! Reads Markdown just well enough for the rules: prose, code spans, and the anchors of headings.
//! Fences of three backticks alone are understood: not `~~~`, nor four backticks around three. Code
//! by indentation counts as prose, and so does a code span that goes on over the end of its line.

use std::collections::{BTreeMap, BTreeSet};

use super::numbered;

/// The lines outside of fenced code, with their numbers.
pub fn unfenced(text: &str) -> Vec<(usize, &str)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (number, line) in numbered(text) {
        let is_fence = line.trim_start().starts_with("```");
        if !is_fence && !is_code {
            lines.push((number, line));
        }
        is_code ^= is_fence;
    }
    lines
}

/// A line split into what is prose and what stands between backticks, in their order.
pub fn spans(line: &str) -> Vec<(bool, &str)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (prose, from_mark) = rest.split_at(at);
        let after = from_mark.trim_start_matches('`');
        let mark = &from_mark[..from_mark.len() - after.len()];
        let Some(end) = after.find(mark) else {
            break;
        };
        found.push((false, prose));
        found.push((true, &after[..end]));
        rest = &after[end + mark.len()..];
    }
    found.push((false, rest));
    found
}

/// Code spans of a document, with their lines.
pub fn code_spans(text: &str) -> Vec<(usize, &str)> {
    let of_line = |(number, line)| spans(line).into_iter().map(move |span| (number, span));
    let all = unfenced(text).into_iter().flat_map(of_line);
    all.filter(|(_, (is_code, _))| *is_code).map(|(number, (_, span))| (number, span)).collect()
}

/// The anchors of a document: those that GitHub makes of its headings, and those set in HTML.
pub fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in unfenced(text) {
        for attribute in ["id=\"", "name=\""] {
            anchors.extend(attributes(line, attribute).map(str::to_owned));
        }
        let Some(heading) = heading(line) else {
            continue;
        };
        let slug = slug(heading);
        let used = uses.entry(slug.clone()).or_default();
        anchors.insert(match *used {
            0 => slug,
            again => format!("{slug}-{again}"),
        });
        *used += 1;
    }
    anchors
}

/// The values of an HTML attribute, given as `name="`.
pub fn attributes<'a>(line: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let after = line.split(attribute).skip(1);
    after.filter_map(|rest| rest.split_once('"').map(|(value, _)| value))
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let is_heading = (1..=6).contains(&level) && text.starts_with([' ', '\t']);
    is_heading.then(|| text.trim().trim_end_matches('#').trim_end())
}

fn slug(heading: &str) -> String {
    // A link counts by its text: drop the target after `](`, brackets fall away below.
    let mut shown = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        shown.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    shown.push_str(rest);
    shown
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c => c.is_alphanumeric().then_some(c),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{anchors, code_spans, spans, unfenced};

    #[test]
    fn fenced_lines_are_left_out() {
        let text = "a\n```text\nb\n```\nc\n    ```\nd\n";
        assert_eq!(unfenced(text), [(1, "a"), (5, "c")]);
    }

    #[test]
    fn code_spans_end_with_as_many_backticks_as_they_began() {
        let expected = [(false, "a "), (true, "b"), (false, " "), (true, "c`d"), (false, "")];
        assert_eq!(spans("a `b` ``c`d``"), expected);
        assert_eq!(spans("a ` b"), [(false, "a ` b")]);
        assert_eq!(code_spans("a\n`b`"), [(2, "b")]);
    }

    #[test]
    fn anchors_are_those_of_github() {
        let text = "# The `Core`: who, until when?\n## A_b – c\n## A_b – c\n\
                    ### [Link](x.md) here ##\n<a id=\"set\"></a>\n#hashtag\n```\n# code\n```\n";
        let found: Vec<String> = anchors(text).into_iter().collect();
        let expected = ["a_b--c", "a_b--c-1", "link-here", "set", "the-core-who-until-when"];
        assert_eq!(found, expected);
    }
}

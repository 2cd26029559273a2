//! Rules over documents: a link within the repository leads somewhere, down to the heading it
//! names, and the source files that the guiding documents name exist.

use super::Finding;
use super::markdown::{anchors, attributes, code_spans, spans, unfenced};
use super::repo::{Repo, folder, join};

/// The documents that map claims to code.
const GUIDES: [&str; 2] = ["ARCHITECTURE.md", "docs/guarantees.md"];

/// Fires on each relative link of a Markdown file whose file, folder or heading is missing.
pub fn links(repo: &Repo) -> Vec<Finding> {
    let documents = repo.files().filter(|(path, _)| path.ends_with(".md"));
    documents
        .flat_map(|(path, text)| {
            targets(text).into_iter().filter_map(move |(line, target)| {
                let wrong = wrong_with(repo, path, &target)?;
                Some(Finding::new(path, line, format!("dead link `{target}`: {wrong}")))
            })
        })
        .collect()
}

/// The targets of a document's links and images, with their lines.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in unfenced(text) {
        // Code is not a link, but it may stand in the text of one.
        let prose: String = spans(line)
            .iter()
            .map(|(is_code, span)| if *is_code { "code" } else { *span })
            .collect();
        let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let html =
            ["href=\"", "src=\""].into_iter().flat_map(|attribute| attributes(&prose, attribute));
        let all = inline.chain(html).chain(definition(&prose));
        // A title may follow the target.
        let bare = all.map(|target| target.split_whitespace().next().unwrap_or_default());
        found.extend(bare.map(|target| (number, target.to_owned())));
    }
    found
}

/// The target of `[name]: target`; a footnote has none.
fn definition(line: &str) -> Option<&str> {
    let (name, target) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    (!name.starts_with('^') && !name.contains(']')).then_some(target)
}

/// Why the target does not exist; `None` if it does, or lies outside of the repository.
fn wrong_with(repo: &Repo, path: &str, target: &str) -> Option<String> {
    if is_external(target) {
        return None;
    }
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (target, None),
    };
    let from = if file.starts_with('/') { "" } else { folder(path) };
    let resolved = match file {
        "" if anchor.is_none() => return Some("it has no target".to_owned()),
        "" => Some(path.to_owned()),
        _ => join(from, file),
    };
    let Some(resolved) = resolved.filter(|resolved| repo.holds(resolved)) else {
        return Some(format!("no such file in the repository: {file}"));
    };
    // Only documents have headings; `#L10` of a source file is GitHub's own.
    let document = repo.text(&resolved).filter(|_| resolved.ends_with(".md"))?;
    let anchor = anchor?;
    let is_missing = !anchors(document).contains(anchor);
    is_missing.then(|| format!("no heading `#{anchor}` in {resolved}"))
}

/// Does the target begin with a scheme, as in `https:` or `mailto:`, or with a host?
fn is_external(target: &str) -> bool {
    let scheme = target.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_scheme_char = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    target.starts_with("//") || (!scheme.is_empty() && scheme.chars().all(is_scheme_char))
}

/// Fires on each path from the root that stands in backticks and does not exist. `path.rs::name` is
/// looked up by its file.
pub fn named_paths(repo: &Repo) -> Vec<Finding> {
    let documents = GUIDES.iter().filter_map(|path| Some((path, repo.text(path)?)));
    documents
        .flat_map(|(document, text)| {
            code_spans(text).into_iter().filter_map(|(line, span)| {
                let path = named_path(span).filter(|path| !repo.holds(path))?;
                let message = format!("`{path}` does not exist: name it from the root");
                Some(Finding::new(document, line, message))
            })
        })
        .collect()
}

/// The path in a code span, if it looks like one of ours.
fn named_path(span: &str) -> Option<&str> {
    let path = span.split_once("::").map_or(span, |(path, _)| path).trim();
    let is_source = [".rs", ".md", ".toml"].iter().any(|end| path.ends_with(end));
    let is_pattern = path.contains(|c: char| c.is_whitespace() || "*<>{}…:".contains(c));
    (is_source && path.contains('/') && !is_pattern).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::{Repo, links, named_paths};

    fn dead(text: &str) -> Vec<String> {
        let repo =
            Repo::of(&[("docs/a.md", text), ("docs/b.md", "# Two words\n"), ("src/lib.rs", "")]);
        links(&repo).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn fires_on_targets_that_do_not_exist() {
        let no_file = "docs/a.md:2: dead link `c.md`: no such file in the repository: c.md";
        assert_eq!(dead("\n[c](c.md)"), [no_file]);
        assert_eq!(dead("\n[c]: c.md"), [no_file]);
        assert_eq!(dead("\n<img src=\"c.md\">"), [no_file]);
        assert_eq!(dead("[out](../../x.md) ![pic](p.svg \"title\")").len(), 2);
        assert_eq!(dead("[`code`](gone.rs) [empty]()").len(), 2);
    }

    #[test]
    fn fires_on_headings_that_do_not_exist() {
        let no_heading = "docs/a.md:1: dead link `b.md#two`: no heading `#two` in docs/b.md";
        assert_eq!(dead("[b](b.md#two)"), [no_heading]);
        assert_eq!(dead("# Here\n[up](#there)").len(), 1);
    }

    #[test]
    fn is_silent_on_live_links() {
        let text = "# Here\n[b](b.md#two-words) [up](#here) [code](../src/lib.rs#L3)\n\
                    [folder](../src) [root](/docs/b.md) [titled](b.md \"title\")\n\
                    [reference]: b.md\n[^note]: a footnote\n<a href=\"b.md\">b</a>\n";
        assert_eq!(dead(text), [""; 0]);
    }

    #[test]
    fn is_silent_on_the_web_and_on_code() {
        let text = "[web](https://example.org/x) [mail](mailto:a@example.org) `[x](gone.md)`\n\
                    ```\n[x](gone.md)\n```\n";
        assert_eq!(dead(text), [""; 0]);
    }

    fn unnamed(document: &str, text: &str) -> Vec<String> {
        let repo = Repo::of(&[(document, text), ("src/lib.rs", "")]);
        named_paths(&repo).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn fires_on_named_paths_that_do_not_exist() {
        let expected = "ARCHITECTURE.md:2: `src/gone.rs` does not exist: name it from the root";
        assert_eq!(unnamed("ARCHITECTURE.md", "\nSee `src/gone.rs`."), [expected]);
        assert_eq!(unnamed("docs/guarantees.md", "`src/gone.rs::a` `x/y.toml`").len(), 2);
    }

    #[test]
    fn is_silent_on_live_paths_and_on_what_is_none() {
        let text = "`src/lib.rs` `src/lib.rs::a` `lib.rs` `src/*.rs` `a/b` `https://a/b.md`\n";
        assert_eq!(unnamed("ARCHITECTURE.md", text), [""; 0]);
        assert_eq!(unnamed("README.md", "`src/gone.rs`"), [""; 0]);
    }
}

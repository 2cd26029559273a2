//! Rule: files speak of the project, not of the place or the tools it was written with.

use super::finding::{Finding, numbered};

/// Composed, so that this file does not trip over its own rule.
const WORDS: [&str; 3] = [concat!("assis", "tant"), concat!("clau", "de"), concat!("sub", "agent")];

const FOLDER: &str = concat!("/wo", "rk/");

/// Fires on each line with such a word, in any case, and on a path that holds one.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let in_path = words_in(path).into_iter().map(|word| (1, word));
    let in_text = numbered(text).flat_map(|(line, content)| {
        let words = words_in(content).into_iter();
        words.map(move |word| (line, word))
    });
    in_path
        .chain(in_text)
        .map(|(line, word)| Finding::new(path, line, format!("`{word}` betrays the workplace")))
        .collect()
}

fn words_in(line: &str) -> Vec<&'static str> {
    let lower = line.to_lowercase();
    let words = WORDS.into_iter().filter(|word| lower.contains(word));
    words.chain(names_folder(&lower).then_some(FOLDER)).collect()
}

/// Is the folder named by its absolute path? A module or a URL may well have one of that name.
fn names_folder(line: &str) -> bool {
    line.match_indices(FOLDER).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.}*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::{FOLDER, WORDS, check};

    #[test]
    fn fires_on_each_word_in_any_case() {
        for word in WORDS {
            let text = format!("Fine.\nBy an {}s.\n", word.to_uppercase());
            let found = check("docs/a.md", &text);
            assert_eq!(found.len(), 1, "{word}");
            assert_eq!(found[0].line, 2);
            assert_eq!(check(&format!("{word}.md"), "Fine.\n").len(), 1);
        }
    }

    #[test]
    fn fires_on_the_absolute_path_alone() {
        assert_eq!(check("a.rs", &format!("cd {FOLDER}x")).len(), 1);
        assert_eq!(check("a.rs", &format!("file://{FOLDER}x")).len(), 1);
        assert_eq!(check("a.rs", &format!("crates/a/src{FOLDER}mod.rs")), []);
    }

    #[test]
    fn is_silent_on_the_project_s_own_words() {
        assert_eq!(check("a.rs", "//! The work of a term, and its agents.\n"), []);
    }
}

//! "Did you mean …": the known name that a misspelt one is nearest to.

/// More changes than this, and it was another name that was meant.
const CHANGES_MAX: usize = 3;

/// The nearest of the known names, if one is near enough.
pub fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let measured = known.map(|name| (changes(given, name), name));
    let (count, name) = measured.min_by_key(|(count, _)| *count)?;
    (count <= CHANGES_MAX && count * 2 < given.len()).then_some(name)
}

/// How many letters must be put in, taken out or replaced to get from one to the other.
fn changes(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_recognised_and_another_is_not() {
        let known = ["lease_timeout", "policy"];
        assert_eq!(nearest("leese_timeout", known.into_iter()), Some("lease_timeout"));
        assert_eq!(nearest("polcy", known.into_iter()), Some("policy"));
        assert_eq!(nearest("colour", known.into_iter()), None);
        assert_eq!(
            (changes("abc", "abc"), changes("", "ab"), changes("kitten", "sitting")),
            (0, 2, 3)
        );
    }
}

//! What a query asks for: its metrics, the labels that it picks them by, and those that it keeps.

/// One metric in a query.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its full name.
    pub metric: String,
    /// Label, operator and value of each matcher.
    pub matchers: Vec<(String, String, String)>,
}

/// A query, as far as names go.
#[derive(Debug, Default)]
pub struct Query {
    /// The metrics.
    pub asked: Vec<Asked>,
    /// The labels in `by (…)`, `on (…)` and alike.
    pub kept: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Mark(char),
}

impl Query {
    /// Reads a query, and checks that its brackets match.
    pub fn read(query: &str) -> Self {
        let tokens = tokens(query);
        let mut read = Self::default();
        let mut open = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                Token::Word(word) if word.starts_with("baton_") => {
                    let end = matchers_end(&tokens, at + 1);
                    let matchers = matchers(&tokens[at + 1..end]);
                    read.asked.push(Asked { metric: word.clone(), matchers });
                    at = end;
                    continue;
                }
                Token::Word(word) if keeps(word) && tokens.get(at + 1) == Some(&mark('(')) => {
                    let kept = tokens[at + 2..].iter().take_while(|token| **token != mark(')'));
                    read.kept.extend(kept.filter_map(word_of));
                }
                Token::Mark(bracket @ ('(' | '[')) => open.push(*bracket),
                Token::Mark(')') => assert_eq!(open.pop(), Some('('), "{query}"),
                Token::Mark(']') => assert_eq!(open.pop(), Some('['), "{query}"),
                _ => {}
            }
            at += 1;
        }
        assert!(open.is_empty(), "a bracket is left open: {query}");
        read
    }
}

fn keeps(word: &str) -> bool {
    ["by", "without", "on", "ignoring", "group_left", "group_right"].contains(&word)
}

fn mark(character: char) -> Token {
    Token::Mark(character)
}

fn word_of(token: &Token) -> Option<String> {
    match token {
        Token::Word(word) => Some(word.clone()),
        _ => None,
    }
}

fn matchers_end(tokens: &[Token], at: usize) -> usize {
    if tokens.get(at) != Some(&mark('{')) {
        return at;
    }
    let end = tokens[at..].iter().position(|token| *token == mark('}'));
    at + end.expect("a closing brace") + 1
}

fn matchers(tokens: &[Token]) -> Vec<(String, String, String)> {
    let mut found: Vec<(String, String, String)> = Vec::new();
    for token in tokens {
        match token {
            Token::Word(label) => {
                found.push((label.clone(), String::new(), String::new()));
            }
            Token::Mark(mark) if "=!~".contains(*mark) => {
                found.last_mut().expect("a label stands before it").1.push(*mark);
            }
            Token::Text(value) => found.last_mut().expect("a label").2.clone_from(value),
            Token::Mark(_) => {}
        }
    }
    let whole = |(_, operator, _): &(String, String, String)| {
        ["=", "!=", "=~", "!~"].contains(&operator.as_str())
    };
    assert!(found.iter().all(whole), "{found:?}");
    found
}

fn tokens(query: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = query.chars().peekable();
    while let Some(first) = rest.next() {
        if first.is_whitespace() {
            continue;
        }
        if first == '"' {
            let text: String = rest.by_ref().take_while(|character| *character != '"').collect();
            tokens.push(Token::Text(text));
        } else if is_word(first) {
            let mut word = first.to_string();
            while let Some(next) = rest.next_if(|character| is_word(*character)) {
                word.push(next);
            }
            tokens.push(Token::Word(word));
        } else {
            tokens.push(Token::Mark(first));
        }
    }
    tokens
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_:$.".contains(character)
}

#[test]
fn metrics_matchers_and_kept_labels_are_found() {
    let query = "histogram_quantile(0.99, sum by (le, operation) \
        (rate(baton_x_bucket{namespace=\"$namespace\",event!~\"a:b|c\"}[5m]))) \
        / on (node) group_left () baton_y > 0.5";
    let read = Query::read(query);
    let text = |text: &str| text.to_owned();
    let matchers = vec![
        (text("namespace"), text("="), text("$namespace")),
        (text("event"), text("!~"), text("a:b|c")),
    ];
    let expected = [
        Asked { metric: text("baton_x_bucket"), matchers },
        Asked { metric: text("baton_y"), matchers: Vec::new() },
    ];
    assert_eq!(read.asked, expected);
    assert_eq!(read.kept, ["le", "operation", "node"]);
}

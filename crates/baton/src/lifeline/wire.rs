//! What is said on a lifeline: one greeting out, signed hint lines in. Lines are short, or not read
//! on.

use super::key::Key;
use baton_core::ids::{BootId, Namespace};
use baton_core::protocol::Hint;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

const LINE_BYTES_MAX: u64 = 1_024;

const GREETING: &str = "baton-lifeline 1 ";

/// What the listener says first, and all it ever says.
pub fn greeting(boot: BootId) -> String {
    format!("{GREETING}{boot}\n")
}

/// Whose greeting this is.
pub fn parse_greeting(line: &str) -> Option<BootId> {
    let boot = line.trim_end().strip_prefix(GREETING)?;
    BootId::try_from(boot.to_owned()).ok()
}

/// What a line asks for: a look of the node itself, or of a service. A version of baton that does
/// not know topics drops such a line, as it drops anything that is no hint of the node's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LifelineHint {
    Core(Hint),
    Service { topic: String },
}

/// A hint as a line, signed for the process that has this key.
pub fn hint_line(key: Key, namespace: &Namespace, hint: &LifelineHint) -> String {
    let hint = serde_json::to_string(hint).expect("a hint is plain data");
    let text = format!("{namespace} {hint}");
    format!("{} {text}\n", key.code(&text))
}

/// The hint in a line, if it is signed with this key.
pub fn parse_hint(key: Key, line: &str) -> Option<(Namespace, LifelineHint)> {
    let (code, text) = line.trim_end().split_once(' ')?;
    let (namespace, hint) = text.split_once(' ').filter(|_| key.is_code(code, text))?;
    Some((Namespace::new(namespace).ok()?, serde_json::from_str(hint).ok()?))
}

/// The next line; `None` at the end, or for one that is too long or no text.
pub async fn line(reader: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<Option<String>> {
    let mut bytes = Vec::new();
    reader.take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes).await?;
    let whole = bytes.ends_with(b"\n");
    Ok(String::from_utf8(bytes).ok().filter(|_| whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_and_a_hint_survive_the_wire_and_anything_else_does_not() {
        let boot = BootId(0xab);
        assert_eq!(parse_greeting(&greeting(boot)), Some(boot));
        assert_eq!(parse_greeting("HTTP/1.1 400 Bad Request\r\n"), None);
        let space = Namespace::new("web").expect("valid");
        let key = Key::in_address("10.1.2.3:7000#ab").expect("it has one");
        let look = LifelineHint::Core(Hint::Look);
        let line = hint_line(key, &space, &look);
        assert!(line.ends_with(" web {\"hint\":\"look\"}\n"), "as every version has it: {line}");
        assert_eq!(parse_hint(key, &line), Some((space.clone(), look.clone())));
        let (_, unsigned) = line.split_once(' ').expect("a code, and what it is of");
        let other = Key::in_address("10.1.2.3:7000#ac").expect("it has one");
        let by_other = hint_line(other, &space, &look);
        for forged in [unsigned, &by_other, &line.replace("web", "wab"), &format!(" {unsigned}")] {
            assert_eq!(parse_hint(key, forged), None, "{forged:?}");
        }
        for garbage in ["", "web", "web {}", "a/b {\"hint\":\"look\"}", "web look"] {
            let signed = format!("{} {garbage}\n", key.code(garbage));
            assert_eq!(parse_hint(key, &signed), None, "{garbage:?}");
        }
    }

    #[test]
    fn a_topic_is_a_services_hint_and_none_to_a_version_without_topics() {
        let topic = LifelineHint::Service { topic: "owner".to_owned() };
        let space = Namespace::new("web").expect("valid");
        let key = Key::in_address("10.1.2.3:7000#ab").expect("it has one");
        let line = hint_line(key, &space, &topic);
        assert_eq!(parse_hint(key, &line), Some((space, topic)));
        let (_, hint) = line.trim_end().split_once(" web ").expect("it is for that namespace");
        assert!(serde_json::from_str::<Hint>(hint).is_err(), "that version drops it: {hint}");
    }

    #[tokio::test]
    async fn a_line_without_end_is_not_read_for_ever() {
        let long = vec![b'a'; 5_000];
        let mut reader = tokio::io::BufReader::new(&long[..]);
        assert_eq!(line(&mut reader).await.expect("it reads"), None);
        let mut reader = tokio::io::BufReader::new(&b"one\ntw"[..]);
        assert_eq!(line(&mut reader).await.expect("it reads"), Some("one\n".to_owned()));
        assert_eq!(line(&mut reader).await.expect("it reads"), None);
    }
}

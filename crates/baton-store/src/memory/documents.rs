//! The rules of versioned documents. As they are written down, text stays text, so that a person
//! can read it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::document::{BatchOutcome, Document, DocumentWrite};

/// Documents by name.
#[derive(Clone, Debug, Default, Hash, Serialize, Deserialize)]
pub struct Documents(BTreeMap<String, (u64, Body)>);

impl Documents {
    pub(super) fn read(&self, name: &str) -> Option<Document> {
        let (version, body) = self.0.get(name)?;
        Some(Document { version: *version, body: body.0.clone() })
    }

    /// Writes all of them, if every precondition holds.
    pub(super) fn write(&mut self, writes: Vec<DocumentWrite>) -> BatchOutcome {
        let version = |write: &DocumentWrite| self.0.get(&write.name).map_or(0, |known| known.0);
        let present: Vec<u64> = writes.iter().map(version).collect();
        if let Some(conflict) = BatchOutcome::conflict(&writes, &present) {
            return conflict;
        }
        let written: Vec<u64> = present.into_iter().map(|version| version + 1).collect();
        for (write, version) in writes.into_iter().zip(&written) {
            self.0.insert(write.name, (*version, Body(write.body)));
        }
        BatchOutcome::Written(written)
    }
}

/// What a document says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Body(Vec<u8>);

/// The two ways in which bytes are written down.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Written {
    Text(String),
    Hex(String),
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match std::str::from_utf8(&self.0) {
            Ok(text) => Written::Text(text.to_owned()),
            Err(_) => Written::Hex(self.0.iter().map(|byte| format!("{byte:02x}")).collect()),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Text(text) => Ok(Self(text.into_bytes())),
            Written::Hex(digits) => {
                let bytes = unhex(&digits);
                bytes.map(Self).ok_or_else(|| de::Error::custom("hex needs pairs of digits 0 to f"))
            }
        }
    }
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_text_can_be_read() {
        let every: Vec<u8> = (0..=255).collect();
        for (bytes, begins) in [
            (b"{\"at\":7}".to_vec(), "{\"text\":"),
            (Vec::new(), "{\"text\":\"\""),
            (every, "{\"hex\":\"000102"),
        ] {
            let body = Body(bytes);
            let written = serde_json::to_string(&body).expect("plain data");
            assert!(written.starts_with(begins), "{written}");
            let read: Body = serde_json::from_str(&written).expect("it was just written");
            assert_eq!(read, body);
        }
        for wrong in ["{\"hex\":\"abc\"}", "{\"hex\":\"zz\"}", "[1,2]"] {
            assert!(serde_json::from_str::<Body>(wrong).is_err(), "{wrong}");
        }
    }
}

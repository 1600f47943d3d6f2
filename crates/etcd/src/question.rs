//! The words of etcd's JSON: questions are made, and answers are read.
//!
//! Bytes are base64, and numbers of 64 bits are texts. A number of 0 is left out of answers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64.encode(bytes)
}

/// Compares the revision at which a key came into being; 0 is absence.
pub(crate) fn created_at(key: &str, revision: u64) -> Value {
    json!({
        "key": encode(key),
        "target": "CREATE",
        "result": "EQUAL",
        "create_revision": revision.to_string(),
    })
}

/// Compares a value. An absent key has none.
pub(crate) fn has_value(key: &str, value: &[u8]) -> Value {
    json!({"key": encode(key), "target": "VALUE", "result": "EQUAL", "value": encode(value)})
}

/// Writes a key, under a lease or without (0).
pub(crate) fn put(key: &str, value: &[u8], lease: u64) -> Value {
    json!({"key": encode(key), "value": encode(value), "lease": lease.to_string()})
}

/// Reads a key.
pub(crate) fn get(key: &str) -> Value {
    json!({"key": encode(key)})
}

/// Reads or deletes the keys of a range; at most `limit` of them, or all (0).
pub(crate) fn range(from: &str, end: &str, limit: usize) -> Value {
    json!({"key": encode(from), "range_end": encode(end), "limit": limit.to_string()})
}

/// Deletes a key.
pub(crate) fn delete_range(from: &str, end: &str) -> Value {
    json!({"key": encode(from), "range_end": encode(end)})
}

/// One operation of a transaction.
pub(crate) enum Do {
    Put(Value),
    Get(Value),
    Delete(Value),
}

/// Returns a transaction.
pub(crate) fn transaction(compare: Vec<Value>, success: Vec<Do>, failure: Vec<Do>) -> Value {
    let operation = |what| match what {
        Do::Put(put) => json!({"request_put": put}),
        Do::Get(range) => json!({"request_range": range}),
        Do::Delete(range) => json!({"request_delete_range": range}),
    };
    let operations = |all: Vec<Do>| all.into_iter().map(operation).collect::<Vec<_>>();
    json!({
        "compare": compare,
        "success": operations(success),
        "failure": operations(failure),
    })
}

/// A key with its value, as etcd tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
    pub(crate) created_at: u64,
    pub(crate) lease: u64,
}

/// Reads a number, which is a text, and absent if it is 0.
pub(crate) fn number(of: &Value, name: &str) -> Option<u64> {
    match of.get(name) {
        None => Some(0),
        Some(Value::String(text)) => text.parse().ok(),
        Some(number) => number.as_u64(),
    }
}

fn bytes(of: &Value, name: &str) -> Option<Vec<u8>> {
    match of.get(name) {
        None => Some(Vec::new()),
        Some(text) => BASE64.decode(text.as_str()?).ok(),
    }
}

/// Reads the keys of a range's answer.
pub(crate) fn items(range: &Value) -> Option<Vec<Item>> {
    let Some(items) = range.get("kvs") else {
        return Some(Vec::new());
    };
    let item = |item: &Value| {
        Some(Item {
            key: bytes(item, "key")?,
            value: bytes(item, "value")?,
            created_at: number(item, "create_revision")?,
            lease: number(item, "lease")?,
        })
    };
    items.as_array()?.iter().map(item).collect()
}

/// The answer to a transaction.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) succeeded: bool,
    pub(crate) revision: u64,
    /// The items of each read, in the order of the operations.
    pub(crate) reads: Vec<Vec<Item>>,
}

impl Answer {
    /// Reads an answer; `None` if it is not one.
    pub(crate) fn read(answer: &Value) -> Option<Answer> {
        let responses = answer.get("responses").and_then(Value::as_array);
        let ranges = responses.into_iter().flatten();
        let ranges = ranges.filter_map(|response| response.get("response_range"));
        Some(Answer {
            succeeded: answer.get("succeeded").and_then(Value::as_bool) == Some(true),
            revision: number(answer.get("header")?, "revision")?,
            reads: ranges.map(items).collect::<Option<_>>()?,
        })
    }

    /// Returns the item of a read of one key.
    pub(crate) fn one(&self, read: usize) -> Option<&Item> {
        self.reads.get(read)?.first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_etcd_is_read() {
        let text = r#"{"header":{"cluster_id":"1","member_id":"2","revision":"17","raft_term":"2"},
            "responses":[{"response_range":{"header":{"revision":"17"},"kvs":[
              {"key":"YQ==","create_revision":"16","mod_revision":"17","version":"2","value":"Yg==",
               "lease":"7587862094743470600"}],"count":"1"}},
              {"response_put":{"header":{"revision":"17"}}},
              {"response_range":{"header":{"revision":"17"}}}]}"#;
        let answer = Answer::read(&serde_json::from_str(text).expect("JSON")).expect("an answer");
        assert!(!answer.succeeded && answer.revision == 17 && answer.one(1).is_none());
        let item = Item {
            key: b"a".to_vec(),
            value: b"b".to_vec(),
            created_at: 16,
            lease: 7_587_862_094_743_470_600,
        };
        assert_eq!(answer.reads, [vec![item], vec![]]);
    }

    #[test]
    fn an_answer_of_another_form_is_none() {
        let header = json!({"revision": "1"});
        let wrong = [
            json!({}),
            json!({"header": {"revision": "a"}}),
            json!({"header": header, "responses": [{"response_range": {"kvs": 3}}]}),
            json!({"header": header, "responses": [{"response_range": {"kvs": [{"key": "?"}]}}]}),
        ];
        assert!(wrong.iter().all(|text| Answer::read(text).is_none()));
    }
}

//! The fields of a line about an operation: words and `name=value` pairs.
//!
//! ```text
//!   conn=7 op=2 SRCH base="dc=example" scope=2 RESULT tag=101 err=0 etime=0.000052 text=""
//!   |           |    |                         |
//!   number      request   text, unescaped      end
//! ```

/// The value of a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FieldValue {
    /// A number as it is written.
    Number(String),
    Text(String),
}

/// Names that a line uses itself.
const OWN: [&str; 4] = ["time", "level", "type", "message"];

/// Returns the fields of a line. A name that comes again does not count.
pub(super) fn fields(line: &str) -> Vec<(String, FieldValue)> {
    let mut fields: Vec<(String, FieldValue)> = Vec::new();
    let mut rest = line;
    while let Some((token, behind)) = token(rest) {
        rest = behind;
        let (name, value) = match token {
            Token::Pair(name, value) => (name.to_ascii_lowercase(), value),
            Token::Word(word) => {
                let is_first = !fields.iter().any(|(name, _)| name == "request");
                let name = if is_first { "request" } else { "end" };
                (name.to_owned(), FieldValue::Text(word))
            }
        };
        let is_taken = OWN.contains(&name.as_str()) || fields.iter().any(|(of, _)| *of == name);
        if !is_taken {
            fields.push((name, value));
        }
    }
    fields
}

enum Token {
    Pair(String, FieldValue),
    Word(String),
}

/// Returns the next token and the text behind it.
fn token(text: &str) -> Option<(Token, &str)> {
    // Brackets surround the fields of a control.
    let text = text.trim_start_matches([' ', '[', ']']);
    let end = text.find([' ', '=', ']']).unwrap_or(text.len());
    let (name, behind) = text
        .split_at_checked(end)
        .filter(|(name, _)| !name.is_empty())?;
    let Some(value) = behind.strip_prefix('=') else {
        return Some((Token::Word(name.to_owned()), behind));
    };
    let (value, behind) = match value.strip_prefix('"') {
        Some(quoted) => {
            let (text, behind) = unquoted(quoted);
            (FieldValue::Text(text), behind)
        }
        None => {
            let end = value.find([' ', ']']).unwrap_or(value.len());
            let (value, behind) = value.split_at_checked(end)?;
            (plain(value), behind)
        }
    };
    Some((Token::Pair(name.to_owned(), value), behind))
}

/// Returns a value without quotes: a number if JSON can have it.
fn plain(value: &str) -> FieldValue {
    match serde_json::from_str(value) {
        Ok(serde_json::Value::Number(_)) => FieldValue::Number(value.to_owned()),
        _ => FieldValue::Text(value.to_owned()),
    }
}

/// Returns the text up to the closing quote, and the text behind it.
fn unquoted(quoted: &str) -> (String, &str) {
    let mut text = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (text, quoted.get(at + 1..).unwrap_or_default()),
            // Other escapes are those of control characters and of bytes that are no text.
            '\\' => match letters.clone().next() {
                Some((_, escaped @ ('"' | '\\'))) => {
                    letters.next();
                    text.push(escaped);
                }
                _ => text.push('\\'),
            },
            letter => text.push(letter),
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<(String, String)> {
        let fields = fields(line).into_iter();
        let text = |value| match value {
            FieldValue::Number(number) => format!("#{number}"),
            FieldValue::Text(text) => text,
        };
        fields.map(|(name, value)| (name, text(value))).collect()
    }

    #[test]
    fn lines_have_fields() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect()
        };
        assert_eq!(
            read(
                r#"conn=1000 op=3 [IP="1.2.3.4" NAME="a b" ID=""] BIND dn="cn=\"x\\y" method=163 mech="EXTERNAL" RESULT tag=97 err=49 qtime=0.000001 text="no time=1" reason="r""#
            ),
            pairs(&[
                ("conn", "#1000"),
                ("op", "#3"),
                ("ip", "1.2.3.4"),
                ("name", "a b"),
                ("id", ""),
                ("request", "BIND"),
                ("dn", "cn=\"x\\y"),
                ("method", "#163"),
                ("mech", "EXTERNAL"),
                ("end", "RESULT"),
                ("tag", "#97"),
                ("err", "#49"),
                ("qtime", "#0.000001"),
                ("text", "no time=1"),
                ("reason", "r"),
            ])
        );
        assert_eq!(
            read("conn=1 closed (disconnected) time=5"),
            pairs(&[
                ("conn", "#1"),
                ("request", "closed"),
                ("end", "(disconnected)")
            ])
        );
        for line in [
            "", "=", "a=", "a=\"", "\"", "=\"=\"", "[[[", "x=\\", "a=01 b=-",
        ] {
            let _ = read(line);
        }
        assert_eq!(read("a=01 b=-1"), pairs(&[("a", "01"), ("b", "#-1")]));
    }
}

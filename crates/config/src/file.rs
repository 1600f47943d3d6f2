//! Settings from a TOML file, with the line of every mistake.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{ConfigError, Origin};
use crate::hint::nearest;
use crate::keys::{self, KEYS, Value};
use crate::{IndexKinds, IndexSetting, Layer};

impl Layer {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], and everything [`Layer::from_toml`] finds.
    pub fn from_file(path: &Path) -> Result<Layer, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|cause| ConfigError::Unreadable {
            what: "configuration file",
            path: path.to_owned(),
            cause,
        })?;
        Self::from_toml(&text, path)
    }

    /// Reads the text of a configuration file; `path` is for messages alone. Relative paths within stay as they are.
    ///
    /// # Errors
    /// [`ConfigError::Syntax`] when it is not TOML, [`ConfigError::UnknownKey`] and [`ConfigError::Value`] with the line.
    pub fn from_toml(text: &str, path: &Path) -> Result<Layer, ConfigError> {
        let source = Source { text, path };
        let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            origin: source.origin(error.span().unwrap_or(0..0)),
            message: error.message().replace('\n', ", "),
        })?;
        let mut layer = Layer::default();
        source.read_table(&mut layer, "", table.get_ref())?;
        Ok(layer)
    }
}

/// The text with its name: knows where a span stands.
struct Source<'t> {
    text: &'t str,
    path: &'t Path,
}

impl Source<'_> {
    fn origin(&self, span: Range<usize>) -> Origin {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        Origin::File {
            path: self.path.to_owned(),
            line: 1 + before.bytes().filter(|byte| *byte == b'\n').count(),
        }
    }

    fn read_table(
        &self,
        layer: &mut Layer,
        prefix: &str,
        table: &DeTable<'_>,
    ) -> Result<(), ConfigError> {
        for (name, value) in table {
            let key = format!("{prefix}{}", name.get_ref());
            match value.get_ref() {
                DeValue::Table(indexes) if key == "index" => self.read_indexes(layer, indexes)?,
                DeValue::Table(inner) if prefix.is_empty() && is_group(&key) => {
                    self.read_table(layer, &format!("{key}."), inner)?;
                }
                _ => self.read_value(layer, &key, name.span(), value)?,
            }
        }
        Ok(())
    }

    fn read_value(
        &self,
        layer: &mut Layer,
        key: &str,
        at: Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), ConfigError> {
        let read = keys::find(key).ok_or_else(|| ConfigError::UnknownKey {
            origin: self.origin(at),
            key: key.to_owned(),
            hint: nearest(key, KEYS.iter().map(|(known, _)| *known)).map(str::to_owned),
        })?;
        plain(value.get_ref())
            .and_then(|plain| read(layer, plain))
            .map_err(|message| self.wrong_value(key, value.span(), message))
    }

    /// `[index]`: `mail = "eq,sub"` or `mail = ["eq", "sub"]`.
    fn read_indexes(&self, layer: &mut Layer, table: &DeTable<'_>) -> Result<(), ConfigError> {
        for (attribute, value) in table {
            let words = match value.get_ref() {
                DeValue::Array(items) => items
                    .iter()
                    .filter_map(|item| item.get_ref().as_str())
                    .collect::<Vec<_>>()
                    .join(","),
                other => other.as_str().unwrap_or_default().to_owned(),
            };
            let kinds = IndexKinds::parse(&words).map_err(|message| {
                self.wrong_value(
                    &format!("index.{}", attribute.get_ref()),
                    value.span(),
                    message,
                )
            })?;
            layer.index.push(IndexSetting {
                attribute: attribute.get_ref().to_string(),
                kinds,
            });
        }
        Ok(())
    }

    fn wrong_value(&self, key: &str, span: Range<usize>, message: String) -> ConfigError {
        ConfigError::Value {
            origin: self.origin(span),
            key: key.to_owned(),
            message,
        }
    }
}

/// Whether keys of this group exist: `limits` for `limits.size`.
fn is_group(name: &str) -> bool {
    KEYS.iter().any(|(key, _)| {
        key.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

fn plain(value: &DeValue<'_>) -> Result<Value, String> {
    match value {
        DeValue::String(text) => Ok(Value::Text(text.to_string())),
        DeValue::Integer(number) if number.radix() == 10 => {
            Ok(Value::Number(number.as_str().replace('_', "")))
        }
        DeValue::Boolean(truth) => Ok(Value::Truth(*truth)),
        DeValue::Array(items) => items
            .iter()
            .map(|item| plain(item.get_ref()))
            .collect::<Result<_, _>>()
            .map(Value::List),
        other => Err(format!(
            "a value of this kind ({}) is not wanted here",
            other.type_str()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Layer, ConfigError> {
        Layer::from_toml(text, Path::new("fulgurite.toml"))
    }

    #[test]
    fn reads_tables_and_lists() {
        let layer = read(
            "suffix = \"dc=example,dc=com\"\nlisten = [\"ldap://127.0.0.1:3890\"]\n[index]\nuid = \"eq\"\n\
             mail = [\"eq\", \"sub\"]\n[limits]\nsize = 1_000\ntime = \"unlimited\"\nrequest_bytes = \"8 MiB\"\n",
        )
        .unwrap();
        assert_eq!(layer.suffix.as_deref(), Some("dc=example,dc=com"));
        assert_eq!(layer.index.len(), 2);
        assert_eq!(layer.limits_size, Some(Some(1000)));
        assert_eq!(layer.limits_time, Some(None));
        assert_eq!(layer.limits_request_bytes, Some(8 << 20));
    }

    #[test]
    fn mistakes_have_a_line_and_a_hint() {
        for (text, wanted) in [
            (
                "data = \"d\"\nsufix = \"dc=x\"\n",
                "fulgurite.toml, line 2: there is no setting \"sufix\"; did you mean \"suffix\"?",
            ),
            (
                "[limits]\n\nsizes = 3\n",
                "fulgurite.toml, line 3: there is no setting \"limits.sizes\"; did you mean \"limits.size\"?",
            ),
            (
                "[tls]\ncert = \"x\"\n",
                "fulgurite.toml, line 1: there is no setting \"tls\"",
            ),
            (
                "[limits]\nsize = 0\n",
                "fulgurite.toml, line 2: limits.size: 0 would allow nothing; write \"unlimited\" for no limit",
            ),
            (
                "suffix = 3\n",
                "fulgurite.toml, line 1: suffix: a text in quotes is wanted",
            ),
            (
                "\n[index]\nuid = \"fast\"\n",
                "fulgurite.toml, line 3: index.uid: \"fast\" is no kind of index",
            ),
            (
                "limits = 3\n",
                "fulgurite.toml, line 1: there is no setting \"limits\"",
            ),
            (
                "threads = 0x10\n",
                "fulgurite.toml, line 1: threads: a value of this kind (integer) is not wanted here",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{error}\nwanted {wanted}");
        }
    }

    #[test]
    fn broken_toml_is_one_sentence_with_its_line() {
        let error = read("data = \"d\"\nsuffix = \n").unwrap_err().to_string();
        assert!(
            error.starts_with("fulgurite.toml, line 2: ") && !error.contains('\n'),
            "{error}"
        );
        let error = read("data = 1\ndata = 2\n").unwrap_err().to_string();
        assert!(error.starts_with("fulgurite.toml, line 2: "), "{error}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Layer::from_file(Path::new("/nonexistent/f.toml"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("cannot read configuration file /nonexistent/f.toml: "),
            "{error}"
        );
    }
}

//! Settings from a TOML file; every error carries its place.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::DatabaseLayer;
use crate::Origin;
use crate::error::ConfigError;
use crate::setting::{Value, read_list};
use crate::suggest::nearest;
use crate::table::{database_keys, keys};
use crate::toml_overlay::{self, WrittenOverlay};
use crate::{IndexSetting, Layer, Sourced, parse_kinds};
use fulgurite_policy::DatabaseKind;

impl Layer {
    /// Reads a configuration file: a slapd.conf if it looks like one, or else TOML. A directory is
    /// a `cn=config` directory.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], and everything [`Layer::from_toml`], [`Layer::from_slapd_conf`]
    /// and [`Layer::from_config_dir`] find.
    pub fn from_file(path: &Path) -> Result<Layer, ConfigError> {
        let unreadable = |cause| ConfigError::Unreadable {
            what: "configuration file",
            path: path.to_owned(),
            cause,
        };
        if path.is_dir() {
            return Self::from_config_dir(path);
        }
        let octets = std::fs::read(path).map_err(unreadable)?;
        if looks_like_slapd_conf(path, &String::from_utf8_lossy(&octets)) {
            return Self::from_slapd_conf(path);
        }
        let text = String::from_utf8(octets)
            .map_err(|_| unreadable(std::io::Error::other("it is not UTF-8")))?;
        Self::from_toml(&text, path)
    }

    /// Reads the text of a configuration file; `path` is for messages only. Relative paths in it
    /// stay relative.
    ///
    /// # Errors
    /// - [`ConfigError::Syntax`] when it is not TOML.
    /// - [`ConfigError::UnknownKey`] and [`ConfigError::Value`] with line and column.
    /// - [`ConfigError::Conflict`] for a database described both at the top and in a table.
    pub fn from_toml(text: &str, path: &Path) -> Result<Layer, ConfigError> {
        let source = Source { text, path };
        let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            origin: source.origin(error.span().unwrap_or(0..0)),
            message: error.message().replace('\n', ", "),
        })?;
        let mut layer = Layer::default();
        source.read_table(&mut Target::Top(&mut layer), "", table.get_ref())?;
        source.refuse_two_ways(&layer)?;
        // Even a configuration of slapd without a database declares all that it has.
        layer.declares_databases |= layer.slapd;
        Ok(layer)
    }
}

/// Returns true if a file is a slapd.conf, by its name or its first line. A directive is no
/// assignment.
fn looks_like_slapd_conf(path: &Path, text: &str) -> bool {
    if path
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        return false;
    }
    let first = crate::slapd_conf::logical_lines(text).into_iter().next();
    let Some(first) = first else {
        return path
            .extension()
            .is_some_and(|extension| extension == "conf");
    };
    let mut words = first.text.split_whitespace();
    let (keyword, next) = (words.next().unwrap_or_default(), words.next());
    let assigned = next.is_some_and(|word| word.starts_with('='));
    let conf = path
        .extension()
        .is_some_and(|extension| extension == "conf");
    !assigned
        && !keyword.starts_with('[')
        && (conf
            || crate::slapd_conf::find(keyword).is_some()
            || keyword.eq_ignore_ascii_case("include"))
}

/// The object that keys are set in: the whole file, or one `[[database]]`.
enum Target<'l> {
    Top(&'l mut Layer),
    Database(&'l mut DatabaseLayer),
}

impl Target<'_> {
    fn set(&mut self, key: &str, value: Value, origin: &Origin) -> Result<(), ConfigError> {
        let database = match self {
            Target::Top(layer) => return layer.set(key, value, origin),
            Target::Database(database) => database,
        };
        if key == "type" {
            database.kind = crate::setting::text(value)
                .and_then(|word| DatabaseKind::parse(&word))
                .map_err(|message| wrong(key, origin.clone(), message))?;
            return Ok(());
        }
        let policy = database.policy.set(key, value.clone(), origin);
        match policy.or_else(|| database.set(key, value, origin)) {
            Some(outcome) => outcome.map_err(|(origin, message)| wrong(key, origin, message)),
            None => Err(ConfigError::UnknownKey {
                origin: origin.clone(),
                key: format!("database.{key}"),
                hint: nearest(key, database_keys()).map(str::to_owned),
            }),
        }
    }

    fn set_overlays(&mut self, written: &[WrittenOverlay]) -> Result<(), ConfigError> {
        let (overlays, notes) = toml_overlay::read(written)?;
        match self {
            Target::Top(layer) => {
                layer.first.overlays = overlays;
                layer.notes.extend(notes);
            }
            // The start of the server names what is left out.
            Target::Database(database) => database.overlays = overlays,
        }
        Ok(())
    }

    fn knows(&self, key: &str) -> bool {
        match self {
            Target::Top(_) => keys().any(|known| known == key),
            Target::Database(_) => key == "type" || database_keys().any(|known| known == key),
        }
    }

    /// Returns true if keys of this group exist: `limits` for `limits.size`.
    fn has_group(&self, name: &str) -> bool {
        let within = |key: &str| {
            key.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        match self {
            Target::Top(_) => keys().any(within),
            Target::Database(_) => database_keys().any(within),
        }
    }

    fn index(&mut self, setting: Sourced<IndexSetting>) {
        match self {
            Target::Top(layer) => layer.first.storage.indexes.push(setting),
            Target::Database(database) => database.storage.indexes.push(setting),
        }
    }
}

fn wrong(key: &str, origin: Origin, message: String) -> ConfigError {
    ConfigError::Value {
        origin,
        key: key.to_owned(),
        message,
    }
}

/// The text with its name; finds the line of a span.
struct Source<'t> {
    text: &'t str,
    path: &'t Path,
}

impl Source<'_> {
    fn origin(&self, span: Range<usize>) -> Origin {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let in_line = before.get(line_start..).unwrap_or_default();
        Origin::File {
            path: self.path.to_owned(),
            line: 1 + before.bytes().filter(|byte| *byte == b'\n').count(),
            column: Some(1 + in_line.chars().count()),
        }
    }

    fn read_table(
        &self,
        target: &mut Target<'_>,
        prefix: &str,
        table: &DeTable<'_>,
    ) -> Result<(), ConfigError> {
        for (name, value) in table {
            let key = format!("{prefix}{}", name.get_ref());
            match (value.get_ref(), &mut *target) {
                (DeValue::Table(indexes), target) if key == "index" => {
                    self.read_indexes(target, indexes)?;
                }
                (DeValue::Array(tables), Target::Top(layer)) if key == "database" => {
                    for table in tables {
                        let database = self.read_database(table)?;
                        layer.add_database(database);
                    }
                }
                (DeValue::Array(tables), target) if key == "overlay" => {
                    let overlays = self.read_overlays(tables)?;
                    target.set_overlays(&overlays)?;
                }
                (DeValue::Boolean(truth), Target::Top(layer)) if key == "slapd_defaults" => {
                    layer.slapd = *truth;
                }
                (DeValue::Array(_), Target::Top(layer)) if key == "slapd_modules" => {
                    layer.modules = self.texts(&key, value)?;
                }
                (DeValue::Table(inner), target) if prefix.is_empty() && target.has_group(&key) => {
                    self.read_table(target, &format!("{key}."), inner)?;
                }
                (_, target) => self.read_value(target, &key, name.span(), value)?,
            }
        }
        Ok(())
    }

    fn read_overlays(
        &self,
        tables: &[Spanned<DeValue<'_>>],
    ) -> Result<Vec<WrittenOverlay>, ConfigError> {
        let mut overlays = Vec::new();
        for value in tables {
            let origin = self.origin(value.span());
            let (mut name, mut lines) = (None, Vec::new());
            let DeValue::Table(table) = value.get_ref() else {
                let message = "overlays are tables: write [[database.overlay]]".to_owned();
                return Err(wrong("overlay", origin, message));
            };
            for (key, value) in table {
                let at = self.origin(value.span());
                match (key.get_ref().as_ref(), value.get_ref()) {
                    ("name", DeValue::String(text)) => {
                        name = Some(Sourced::new(text.to_string(), at));
                    }
                    ("lines", DeValue::Array(_)) => lines = self.texts("overlay.lines", value)?,
                    (key, _) => {
                        let message = "an overlay has the text \"name\" and the list \"lines\"";
                        return Err(wrong(&format!("overlay.{key}"), at, message.to_owned()));
                    }
                }
            }
            let name = name.ok_or_else(|| {
                let message = "an overlay needs its name: name = \"memberof\"".to_owned();
                wrong("overlay", origin, message)
            })?;
            overlays.push(WrittenOverlay { name, lines });
        }
        Ok(overlays)
    }

    /// Returns the items of a list of texts.
    fn texts(
        &self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<Sourced<String>>, ConfigError> {
        let origin = self.origin(value.span());
        let list = self
            .plain(value.get_ref())
            .map_err(|message| wrong(key, origin.clone(), message))?;
        read_list(list, &origin).map_err(|(origin, message)| wrong(key, origin, message))
    }

    fn read_database(&self, value: &Spanned<DeValue<'_>>) -> Result<DatabaseLayer, ConfigError> {
        let DeValue::Table(table) = value.get_ref() else {
            let message = "databases are tables: write [[database]]".to_owned();
            return Err(wrong("database", self.origin(value.span()), message));
        };
        let mut database = DatabaseLayer {
            origin: Some(self.origin(value.span())),
            ..DatabaseLayer::default()
        };
        self.read_table(&mut Target::Database(&mut database), "", table)?;
        Ok(database)
    }

    fn read_value(
        &self,
        target: &mut Target<'_>,
        key: &str,
        at: Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), ConfigError> {
        if !target.knows(key) {
            // The error names the key, not its value.
            return target.set(key, Value::Truth(true), &self.origin(at));
        }
        let origin = self.origin(value.span());
        let plain = self
            .plain(value.get_ref())
            .map_err(|message| wrong(key, origin.clone(), message))?;
        target.set(key, plain, &origin)
    }

    /// `[index]`: `mail = "eq,sub"` or `mail = ["eq", "sub"]`.
    fn read_indexes(
        &self,
        target: &mut Target<'_>,
        table: &DeTable<'_>,
    ) -> Result<(), ConfigError> {
        for (attribute, value) in table {
            let words = match value.get_ref() {
                DeValue::Array(items) => items
                    .iter()
                    .filter_map(|item| item.get_ref().as_str())
                    .collect::<Vec<_>>()
                    .join(","),
                other => other.as_str().unwrap_or_default().to_owned(),
            };
            let origin = self.origin(value.span());
            let kinds = parse_kinds(&words).map_err(|message| {
                let key = format!("index.{}", attribute.get_ref());
                wrong(&key, origin.clone(), message)
            })?;
            let setting = IndexSetting {
                attribute: attribute.get_ref().to_string(),
                kinds,
            };
            target.index(Sourced::new(setting, origin));
        }
        Ok(())
    }

    fn plain(&self, value: &DeValue<'_>) -> Result<Value, String> {
        match value {
            DeValue::String(text) => Ok(Value::Text(text.to_string())),
            DeValue::Integer(number) if number.radix() == 10 => {
                Ok(Value::Number(number.as_str().replace('_', "")))
            }
            DeValue::Boolean(truth) => Ok(Value::Truth(*truth)),
            DeValue::Array(items) => items
                .iter()
                .map(|item| {
                    let plain = self.plain(item.get_ref())?;
                    Ok(Sourced::new(plain, self.origin(item.span())))
                })
                .collect::<Result<_, _>>()
                .map(Value::List),
            other => Err(format!(
                "a value of this kind ({}) is not expected here",
                other.type_str()
            )),
        }
    }

    /// Fails if a file that declares databases also describes one at its top.
    fn refuse_two_ways(&self, layer: &Layer) -> Result<(), ConfigError> {
        if layer.databases.is_empty() {
            return Ok(());
        }
        let mut found = None;
        let storage = layer.first.storage.clone().resolve();
        let content = layer.first.content.clone().resolve();
        let mut look = |key: &'static str, _: String, origin: &Origin| {
            if *origin != Origin::Default && found.is_none() {
                found = Some((key, origin.clone()));
            }
        };
        content.each(&mut look);
        storage.each(&mut look);
        match found {
            Some((key, origin)) => Err(ConfigError::Conflict(format!(
                "{origin}: \"{key}\" is at the top although the file has [[database]] tables: move it into one"
            ))),
            None => Ok(()),
        }
    }
}

impl Layer {
    /// Adds a declared database; `cn=config` has its own field.
    pub(crate) fn add_database(&mut self, database: DatabaseLayer) {
        self.declares_databases = true;
        match database.kind {
            DatabaseKind::Config => self.config = database,
            _ => self.databases.push(database),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limit, Settings};

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
        assert_eq!(&*layer.first.content.suffixes[0].value, "dc=example,dc=com");
        assert_eq!(layer.first.storage.indexes.len(), 2);
        let settings = Settings::new(layer).unwrap();
        assert_eq!(settings.frontend.size.soft, Some(Limit::At(1000)));
        assert_eq!(settings.frontend.time.soft, Some(Limit::Unlimited));
        assert_eq!(*settings.global.request_bytes, 8 << 20);
    }

    #[test]
    fn errors_have_a_line_and_a_suggestion() {
        for (text, wanted) in [
            (
                "data = \"d\"\nsufix = \"dc=x\"\n",
                "fulgurite.toml, line 2, column 1: there is no setting \"sufix\"; did you mean \"suffix\"?",
            ),
            (
                "[limits]\n\nsizes = 3\n",
                "fulgurite.toml, line 3, column 1: there is no setting \"limits.sizes\"; did you mean \"limits.size\"?",
            ),
            (
                "[tsl]\ncert = \"x\"\n",
                "fulgurite.toml, line 1, column 2: there is no setting \"tsl\"",
            ),
            (
                "[limits]\nsize = 0\n",
                "fulgurite.toml, line 2, column 8: limits.size: 0 would allow nothing; write \"unlimited\" for no limit",
            ),
            (
                "suffix = 3\n",
                "fulgurite.toml, line 1, column 10: suffix: a text in quotes is expected",
            ),
            (
                "\n[index]\nuid = \"fast\"\n",
                "fulgurite.toml, line 3, column 7: index.uid: \"fast\" is no kind of index",
            ),
            (
                "limits = 3\n",
                "fulgurite.toml, line 1, column 1: there is no setting \"limits\"",
            ),
            (
                "threads = 0x10\n",
                "fulgurite.toml, line 1, column 11: threads: a value of this kind (integer) is not expected here",
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
            error.starts_with("fulgurite.toml, line 2, ") && !error.contains('\n'),
            "{error}"
        );
        let error = read("data = 1\ndata = 2\n").unwrap_err().to_string();
        assert!(error.starts_with("fulgurite.toml, line 2, "), "{error}");
    }

    #[test]
    fn databases_are_tables() {
        let layer = read(
            "access = [\"to * by * read\"]\n[[database]]\nsuffix = \"dc=a\"\ndata = \"a\"\nroot.dn = \"cn=r\"\n\
             [database.index]\nuid = \"eq\"\n[[database]]\ntype = \"monitor\"\n[[database]]\ntype = \"config\"\n\
             root.password = \"x\"\n",
        )
        .unwrap();
        let settings = Settings::new(layer).unwrap();
        let kinds: Vec<_> = settings.databases.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [DatabaseKind::Mdb, DatabaseKind::Monitor]);
        assert_eq!(settings.suffix().unwrap(), "dc=a");
        assert!(settings.config.content.root_password.is_some());
        assert_eq!(settings.frontend.access.len(), 1);
        for (text, wanted) in [
            (
                "data = \"d\"\n[[database]]\nsuffix = \"dc=a\"\n",
                "fulgurite.toml, line 1, column 8: \"data\" is at the top although",
            ),
            (
                "[[database]]\ntype = \"bdb\"\n",
                "fulgurite.toml, line 2, column 8: type: \"bdb\" is none of mdb, monitor and config",
            ),
            (
                "[[database]]\nlisten = \"ldap://x\"\n",
                "fulgurite.toml, line 2, column 1: there is no setting \"database.listen\"",
            ),
            (
                "[[database]]\nroot.dm = \"x\"\n",
                "fulgurite.toml, line 2, column 6: there is no setting \"database.root.dm\"; did you mean \"root.dn\"?",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{error}\nwanted {wanted}");
        }
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

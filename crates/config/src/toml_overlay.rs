//! Overlays of a TOML file, in the words of slapd.conf.
//!
//! ```toml
//! [[database.overlay]]
//! name = "ppolicy"
//! lines = ["ppolicy_default \"cn=default,ou=policies,dc=example,dc=com\"", "ppolicy_hash_cleartext"]
//! ```

use fulgurite_policy::{DatabaseKind, OverlayLine, OverlaySettings};

use crate::slapd_conf::{LayerBuilder, obey};
use crate::statement::{Section, Statement};
use crate::tokens::{quoted, split_tokens};
use crate::{ConfigError, Note, Origin, Sourced};

/// Overlays as a file writes them: the name, and the directives, each with its place.
pub(crate) struct WrittenOverlay {
    pub(crate) name: Sourced<String>,
    pub(crate) lines: Vec<Sourced<String>>,
}

/// Returns the overlays of a database, and what is to be noted about them.
pub(crate) fn read(
    written: &[WrittenOverlay],
) -> Result<(Vec<OverlaySettings>, Vec<Note>), ConfigError> {
    let mut builder = LayerBuilder::new();
    builder.begin_database(DatabaseKind::Mdb, Origin::Default);
    for overlay in written {
        let name = &overlay.name;
        let line = format!("overlay {}", quoted(&name.value));
        obey_line(&mut builder, &line, &name.origin)?;
        for line in &overlay.lines {
            let known = builder
                .database()
                .overlays
                .iter()
                .map(|one| one.lines.len());
            let before: usize = known.sum();
            obey_line(&mut builder, &line.value, &line.origin)?;
            let known = builder
                .database()
                .overlays
                .iter()
                .map(|one| one.lines.len());
            if known.sum::<usize>() == before {
                let text = format!("\"{}\" is no directive of {}", line.value, name.value);
                return Err(ConfigError::at(&line.origin, text));
            }
        }
    }
    let notes = std::mem::take(&mut builder.layer.notes);
    Ok((std::mem::take(&mut builder.database().overlays), notes))
}

fn obey_line(builder: &mut LayerBuilder, line: &str, origin: &Origin) -> Result<(), ConfigError> {
    let wrong = |message: String| ConfigError::at(origin, message);
    let mut arguments = split_tokens(line).map_err(wrong)?;
    if arguments.is_empty() {
        return Err(wrong("a directive of slapd.conf is expected".to_owned()));
    }
    let keyword = arguments.remove(0);
    let statement = Statement {
        text: line
            .trim_start()
            .get(keyword.len()..)
            .unwrap_or_default()
            .trim()
            .to_owned(),
        keyword,
        arguments,
        is_value: false,
        origin: origin.clone(),
        section: Section::Store,
    };
    obey(builder, &statement).map_err(wrong)
}

/// Returns a directive as a line of slapd.conf.
pub(crate) fn line(line: &OverlayLine) -> String {
    let keyword = line.directive.keyword.to_owned();
    let words = line.arguments.iter().map(|argument| quoted(argument));
    [keyword]
        .into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

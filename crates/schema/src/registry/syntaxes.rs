//! Syntaxes that files define.

use super::definition_set::DefinitionSet;
use super::error::SchemaError;
use super::name_table::NameTable;
use crate::definition::SyntaxText;
use crate::syntax::Syntax;

/// Syntaxes defined by files, each standing for a built-in one.
#[derive(Debug)]
pub(super) struct Syntaxes {
    names: NameTable,
    stands_for: Vec<&'static Syntax>,
    pub(super) published: Vec<String>,
}

impl Syntaxes {
    /// Resolves the syntaxes that files define.
    pub(super) fn resolve(collected: DefinitionSet<SyntaxText>) -> Result<Syntaxes, SchemaError> {
        let mut syntaxes = Syntaxes {
            names: collected.names,
            stands_for: Vec::new(),
            published: Vec::new(),
        };
        for (location, text) in &collected.first {
            let stands_for = match text.substitute() {
                None => Syntax::find(&text.head.oid).or_else(|| Syntax::find(OCTET_STRING)),
                Some(oid) => Syntax::find(oid),
            };
            let unknown = || {
                SchemaError::at(
                    location,
                    format!("ldapsyntax: Substitute syntax not found: \"{text}\""),
                )
            };
            syntaxes.stands_for.push(stands_for.ok_or_else(unknown)?);
            let again = collected.repeated.iter().find(|(known, (_, later))| {
                *known + 1 == syntaxes.stands_for.len() && later.substitute() != text.substitute()
            });
            if let Some((_, (later, _))) = again {
                return Err(SchemaError::at(
                    later,
                    format!("ldapsyntax: Duplicate ldapSyntax: \"{}\"", text.head.oid),
                ));
            }
            if Syntax::find(&text.head.oid).is_none() {
                syntaxes.published.push(text.to_string());
            }
        }
        Ok(syntaxes)
    }

    /// Returns a syntax by OID.
    pub(super) fn get(&self, oid: &str) -> Option<&'static Syntax> {
        let defined = self
            .names
            .get(oid.as_bytes())
            .and_then(|number| self.stands_for.get(number as usize))
            .copied();
        Syntax::find(oid).or(defined)
    }
}

const OCTET_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.40";

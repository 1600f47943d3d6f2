//! From the text of a source to its definitions.

use std::sync::Arc;

use super::parse::{Fields, Macros};
use super::statement::Statement;
use super::text::{Body, Definition, Location, Origin};
use super::{file, ldif};

/// The contents of a source.
#[derive(Debug, Default)]
pub(crate) struct SourceContents {
    pub(crate) definitions: Vec<Definition>,
    /// `attributeoptions`, in lower case.
    pub(crate) options: Vec<String>,
}

/// Parses a text in any of its forms. Macros are shared between texts, so that one may use what an
/// earlier one named.
///
/// # Errors
/// Line and reason of the first statement that cannot be parsed.
pub(crate) fn parse_source(
    name: &str,
    text: &str,
    origin: Origin,
    macros: &mut Macros,
) -> Result<SourceContents, (usize, String)> {
    let in_ldif = ldif::looks_like_ldif(text);
    let statements = if in_ldif {
        ldif::statements(text)?
    } else {
        file::statements(text)
    };
    let name: Arc<str> = name.into();
    let mut parsed = SourceContents::default();
    for statement in statements {
        let line = statement.line;
        parse_statement(&name, &statement, origin, macros, &mut parsed)
            .map_err(|reason| (line, reason))?;
    }
    Ok(parsed)
}

/// Adds the contents of one statement to `parsed`.
///
/// # Errors
/// The reason, beginning with the keyword.
pub(crate) fn parse_statement(
    name: &Arc<str>,
    statement: &Statement,
    origin: Origin,
    macros: &mut Macros,
    parsed: &mut SourceContents,
) -> Result<(), String> {
    let Statement { keyword, value, .. } = statement;
    let in_front = |reason: String| format!("{keyword}: {reason}");
    let fields = Fields::new(value, macros);
    let body = match keyword.as_str() {
        "objectidentifier" => {
            let (macro_name, oid) = value
                .split_once(char::is_whitespace)
                .ok_or("keyword <objectidentifier> missing <name> <oid> argument")?;
            return macros
                .define(macro_name, oid.trim().trim_matches('\''))
                .map_err(in_front);
        }
        "attributeoptions" => {
            return value
                .split_whitespace()
                .try_for_each(|option| add_option(option, parsed));
        }
        // The last one is how dsee.schema of OpenLDAP spells it in one place.
        "attributetype" | "attributetypes" | "attributeype" => {
            fields.attribute_type().map(Body::AttributeType)
        }
        "objectclass" | "objectclasses" => fields.object_class().map(Body::ObjectClass),
        "ditcontentrule" | "ditcontentrules" => fields.content_rule().map(Body::ContentRule),
        "ldapsyntax" | "ldapsyntaxes" => fields.syntax_description().map(Body::Syntax),
        "nameform" | "nameforms" => fields.name_form().map(Body::NameForm),
        "ditstructurerule" | "ditstructurerules" => {
            fields.structure_rule().map(Body::StructureRule)
        }
        _ => return Err(format!("unknown keyword '{keyword}'")),
    };
    parsed.definitions.push(Definition {
        location: Location {
            origin: Arc::clone(name),
            line: statement.line,
        },
        origin,
        body: body.map_err(in_front)?,
    });
    Ok(())
}

fn add_option(option: &str, parsed: &mut SourceContents) -> Result<(), String> {
    let valid = option.starts_with(|c: char| c.is_ascii_alphabetic())
        && option
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if !valid {
        return Err(format!("illegal option name \"{option}\""));
    }
    if option.eq_ignore_ascii_case("binary") {
        return Err("option \"binary\" is already defined".to_owned());
    }
    parsed.options.push(option.to_ascii_lowercase());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<SourceContents, (usize, String)> {
        parse_source("t", text, Origin::File, &mut Macros::default())
    }

    #[test]
    fn continuation_comments_and_macros() {
        let text = "# head\nobjectidentifier base 1.2.3\nobjectidentifier sub base:4\n\nattributetype ( sub:5\n\tNAME 'x'\n# inside\n\n  SUP name )\nobjectclass ( base:9 NAME ( 'k' 'kk' )\n SUP top MUST ( x $ cn ) X-ORIGIN 'here' )\nattributeoptions X-a- lang-\n";
        let parsed = parse(text).unwrap();
        assert_eq!(parsed.options, ["x-a-", "lang-"]);
        let definitions = parsed.definitions;
        assert_eq!(definitions.len(), 2);
        assert_eq!(definitions[0].location.line, 5);
        let Body::AttributeType(x) = &definitions[0].body else {
            panic!("attribute type expected")
        };
        assert_eq!(
            (x.head.oid.as_str(), x.superior.as_deref()),
            ("1.2.3.4.5", Some("name"))
        );
        let Body::ObjectClass(k) = &definitions[1].body else {
            panic!("object class expected")
        };
        assert_eq!(k.head.names, ["k", "kk"]);
        assert_eq!(k.must, ["x", "cn"]);
        assert_eq!(
            k.head.extensions,
            [("X-ORIGIN".to_owned(), vec!["here".to_owned()])]
        );
    }

    #[test]
    fn a_keyword_may_follow_the_numbers_of_an_oid() {
        let parsed = parse("attributetype (1.2.3NAME 'x' SUP name )\n").unwrap();
        let Body::AttributeType(x) = &parsed.definitions[0].body else {
            panic!("attribute type expected")
        };
        assert_eq!(
            (x.head.oid.as_str(), x.head.names.as_slice()),
            ("1.2.3", &["x".to_owned()][..])
        );
        assert!(parse("attributetype ( 1.2.3-x NAME 'x' SUP name )\n").is_err());
        assert!(parse("attributetype ( 1.2.3. NAME 'x' SUP name )\n").is_err());
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, part) in [
            (
                "attributetype ( 1.2.3 NAME 'x' SYNTAX 1.2\n",
                1,
                "attributetype: Missing closing parenthesis before end of input",
            ),
            (
                "\n\nattributetype ( foo:1 NAME 'x' )",
                3,
                "attributetype: OID could not be expanded: \"foo:1\"",
            ),
            (
                "objectclass ( 1.2.3 NAME 'x' FOO )",
                1,
                "objectclass: Unexpected token: \"FOO\"",
            ),
            ("nonsense here", 1, "unknown keyword 'nonsense'"),
            (
                "attributetype ( 1.2.3 NAME '1x' SUP name )",
                1,
                "attributetype: Invalid NAME: \"1x\"",
            ),
            (
                "attributetype ( 1.2.3 NAME 'x' )",
                1,
                "attributetype: AttributeType SYNTAX or SUPerior required: \"x\"",
            ),
            (
                "attributetype ( 1.2.3 NAME 'x' SUP name ) )",
                1,
                "after the closing",
            ),
            (
                "attributetype ( 1.2.3 NAME 'x' NAME 'y' SUP name )",
                1,
                "attributetype: Duplicate option: \"NAME\"",
            ),
            (
                "objectclass ( 1.2.3 NAME 'x' STRUCTURAL AUXILIARY )",
                1,
                "objectclass: Duplicate option: \"AUXILIARY\"",
            ),
            (
                "attributetype ( 1.2.3 NAME 'x' SYNTAX 1.2{a} )",
                1,
                "not a length",
            ),
            (
                "objectidentifier a b:1",
                1,
                "objectidentifier: OID b:1 not recognized",
            ),
            ("objectidentifier a", 1, "missing <name> <oid> argument"),
            ("attributeoptions a_b", 1, "illegal option name \"a_b\""),
            (
                "attributeoptions binary",
                1,
                "option \"binary\" is already defined",
            ),
        ] {
            let (at, reason) = parse(text).unwrap_err();
            assert_eq!(at, line, "{text}");
            assert!(reason.contains(part), "{text}: {reason}");
        }
    }
}

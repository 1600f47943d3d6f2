//! `.schema` files in OpenLDAP's syntax: keyword lines, continued by leading white space, `#` comments.

use std::sync::Arc;

use super::{Body, Definition, Fields, Location, Macros};

/// All definitions of a file. Macros are shared between files, so that one may use what an earlier one named.
///
/// # Errors
/// Line and reason of the first definition that cannot be parsed.
pub(crate) fn parse_file(
    origin: &str,
    text: &str,
    macros: &mut Macros,
) -> Result<Vec<Definition>, (usize, String)> {
    let origin: Arc<str> = origin.into();
    let mut definitions = Vec::new();
    for (line, statement) in statements(text) {
        if let Some(body) = parse_statement(&statement, macros).map_err(|reason| (line, reason))? {
            definitions.push(Definition {
                location: Location {
                    origin: Arc::clone(&origin),
                    line,
                },
                body,
            });
        }
    }
    Ok(definitions)
}

fn parse_statement(statement: &str, macros: &mut Macros) -> Result<Option<Body>, String> {
    let (keyword, rest) = statement
        .split_once(char::is_whitespace)
        .unwrap_or((statement, ""));
    let (keyword, rest) = (
        keyword.trim_end_matches(':').to_ascii_lowercase(),
        rest.trim(),
    );
    let fields = Fields::new(rest, macros);
    Ok(Some(match keyword.as_str() {
        "objectidentifier" => {
            let (name, value) = rest
                .split_once(char::is_whitespace)
                .ok_or("objectidentifier needs a name and a value")?;
            macros.define(name, value.trim().trim_matches('\''))?;
            return Ok(None);
        }
        // The last one is how dsee.schema of OpenLDAP spells it in one place.
        "attributetype" | "attributetypes" | "attributeype" => {
            Body::AttributeType(fields.attribute_type()?)
        }
        "objectclass" | "objectclasses" => Body::ObjectClass(fields.object_class()?),
        "ditcontentrule" | "ditcontentrules" => Body::ContentRule(fields.content_rule()?),
        "ldapsyntax" | "ldapsyntaxes" => Body::Syntax(fields.syntax_description()?),
        _ => return Err(format!("unknown keyword '{keyword}'")),
    }))
}

/// Logical lines with the number of their first physical line. A comment or an empty line inside a continued
/// statement is skipped, as OpenLDAP does.
fn statements(text: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match all.last_mut() {
            Some((_, statement)) if line.starts_with([' ', '\t']) => {
                statement.push(' ');
                statement.push_str(line.trim_start());
            }
            _ => all.push((number + 1, line.trim_start().to_owned())),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuation_comments_and_macros() {
        let text = "# head\nobjectidentifier base 1.2.3\nobjectidentifier sub base:4\n\nattributetype ( sub:5\n\tNAME 'x'\n# inside\n\n  SUP name )\nobjectclass ( base:9 NAME ( 'k' 'kk' )\n SUP top MUST ( x $ cn ) X-ORIGIN 'here' )\n";
        let definitions = parse_file("t", text, &mut Macros::default()).unwrap();
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
    fn errors_name_the_line() {
        for (text, line, part) in [
            ("attributetype ( 1.2.3 NAME 'x' SYNTAX 1.2\n", 1, "closing"),
            (
                "\n\nattributetype ( foo:1 NAME 'x' )",
                3,
                "not an object identifier",
            ),
            (
                "objectclass ( 1.2.3 NAME 'x' FOO )",
                1,
                "unknown keyword 'FOO'",
            ),
            ("nonsense here", 1, "unknown keyword 'nonsense'"),
            (
                "attributetype ( 1.2.3 NAME '1x' SUP name )",
                1,
                "not a valid name",
            ),
            ("attributetype ( 1.2.3 NAME 'x' )", 1, "needs SUP or SYNTAX"),
            (
                "attributetype ( 1.2.3 NAME 'x' SUP name ) )",
                1,
                "after the closing",
            ),
            (
                "attributetype ( 1.2.3 NAME 'x' SYNTAX 1.2{a} )",
                1,
                "not a length",
            ),
            ("objectidentifier a b:1", 1, "not an object identifier"),
        ] {
            let (at, reason) = parse_file("t", text, &mut Macros::default()).unwrap_err();
            assert_eq!(at, line, "{text}");
            assert!(reason.contains(part), "{text}: {reason}");
        }
    }
}

//! Names as this crate resolves them against names as `fulgurite-ldap` parses them: two readers,
//! one grammar.

use fulgurite_ldap::dn;
use fulgurite_schema::{Dn, DnError, Schema};
use proptest::prelude::*;

/// The result of either parser: levels of (type, value), or `None` for a malformed text.
type Parts = Option<Vec<Vec<(String, Vec<u8>)>>>;

fn by_text(schema: &Schema, text: &str) -> Parts {
    let key = |name: &str| {
        schema
            .attribute(name)
            .map_or(name.to_owned(), |kind| kind.key_name.clone())
    };
    let rdns = dn::parse(text).ok()?;
    let ava = |ava: &dn::Ava<'_>| (key(ava.attribute), ava.value.to_vec());
    Some(
        rdns.iter()
            .map(|rdn| rdn.iter().map(ava).collect())
            .collect(),
    )
}

fn by_schema(schema: &Schema, text: &str) -> Result<Parts, DnError> {
    let name = match Dn::parse(schema, text) {
        Ok(name) => name,
        Err(DnError::Malformed(_)) => return Ok(None),
        Err(other) => return Err(other),
    };
    let key = |index| schema.attribute_at(index).key_name.clone();
    Ok(Some(
        name.rdns()
            .map(|rdn| {
                rdn.avas()
                    .map(|ava| (key(ava.attribute), ava.value.to_vec()))
                    .collect()
            })
            .collect(),
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn two_readers_agree(text in "((cn|SN|2\\.5\\.4\\.11|oid\\.2\\.5\\.4\\.10) ?= ?([ab=]|\\\\,|\\\\2c|\\\\c3\\\\a9|\\\\ |\"a,b\"|#0c0161| ){0,3}[,+; ]?){0,3}") {
        let schema = Schema::standard();
        // A type may occur once in an RDN, and values have syntaxes: only a schema knows.
        if let Ok(ours) = by_schema(&schema, &text) {
            let mut theirs = by_text(&schema, &text);
            // A resolved name has the parts of an RDN sorted by type.
            theirs.iter_mut().flatten().for_each(|rdn| rdn.sort());
            let twice = theirs.iter().flatten().any(|rdn| {
                let mut types: Vec<&String> = rdn.iter().map(|(kind, _)| kind).collect();
                types.sort();
                types.windows(2).any(|pair| pair[0] == pair[1])
            });
            if !twice {
                prop_assert_eq!(ours, theirs, "{:?}", text);
            }
        }
    }
}

#[test]
fn spaces_alone_are_no_name() {
    let schema = Schema::standard();
    for text in [" ", "   "] {
        assert_eq!(by_schema(&schema, text), Ok(None), "{text:?}");
        assert_eq!(by_text(&schema, text), None, "{text:?}");
    }
    assert!(Dn::parse(&schema, "").is_ok_and(|dn| dn.is_root()));
}

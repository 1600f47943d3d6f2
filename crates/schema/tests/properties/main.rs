//! Properties of normal forms, names and parsers, on generated input.

use std::cmp::Ordering;

use fulgurite_schema::{Dn, MatchingRule, Schema, SchemaBuilder, Truth};
use proptest::prelude::*;

fn rule(name: &str) -> &'static MatchingRule {
    MatchingRule::find(name).unwrap()
}

/// Text rich in what preparation treats specially.
fn text() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        ' ', ' ', '\u{a0}', '\u{ad}', '\u{200b}', '\u{200d}', '\u{301}', '\u{308}', 'e', 'E', 'é',
        'ß', 'İ', 'ſ', 'ﬁ', '\t', '\u{7}', 'ΐ', 'ﬃ', 'K', 'Å', '½', '가', 'ᄀ', 'ᅡ', '´',
        '\u{fe0f}', '𝐀', 'ǰ', 'Ω', 'ͺ', 'ϔ', '㋏', '℡',
    ]);
    prop::collection::vec(
        prop_oneof![3 => special, 2 => prop::char::range('!', '~'), 1 => any::<char>()],
        0..12,
    )
    .prop_map(|chars| chars.into_iter().collect())
}

fn ascii() -> impl Strategy<Value = String> {
    "[ a-cA-C$*-]{0,10}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn normal_forms_are_their_own_normal_forms(value in text()) {
        let schema = Schema::standard();
        for name in ["caseIgnoreMatch", "caseExactMatch", "telephoneNumberMatch", "caseIgnoreIA5Match"] {
            let rule = rule(name);
            if let Ok(normal) = rule.normalise(&*schema, value.as_bytes()) {
                let again = rule.normalise(&*schema, &normal);
                if !normal.is_empty() {
                    prop_assert_eq!(again.as_deref(), Ok(&*normal), "{} {:?}", name, value);
                }
                prop_assert_eq!(rule.matches(&*schema, &normal, value.as_bytes()), Truth::True);
            }
        }
    }

    #[test]
    fn comparing_in_place_is_comparing_normal_forms(a in prop_oneof![ascii(), text()], b in prop_oneof![ascii(), text()]) {
        let schema = Schema::standard();
        for name in ["caseIgnoreMatch", "caseExactMatch", "telephoneNumberMatch", "caseIgnoreIA5Match", "caseExactIA5Match"] {
            let rule = rule(name);
            let (Ok(na), Ok(nb)) = (rule.normalise(&*schema, a.as_bytes()), rule.normalise(&*schema, b.as_bytes())) else { continue };
            prop_assert_eq!(rule.matches(&*schema, &na, b.as_bytes()), Truth::from(na == nb), "{} {:?} {:?}", name, a, b);
            prop_assert_eq!(rule.matches(&*schema, &nb, a.as_bytes()), Truth::from(na == nb));
        }
    }

    #[test]
    fn case_and_spaces_do_not_count(words in prop::collection::vec("[a-zA-Z0-9]{1,5}", 1..4)) {
        let schema = Schema::standard();
        let rule = rule("caseIgnoreMatch");
        let plain = words.join(" ").to_lowercase();
        let odd = format!("  {} ", words.join("   ").to_uppercase());
        prop_assert_eq!(rule.normalise(&*schema, odd.as_bytes()).unwrap(), plain.as_bytes());
        prop_assert_eq!(rule.matches(&*schema, plain.as_bytes(), odd.as_bytes()), Truth::True);
    }

    #[test]
    fn integers_sort_as_numbers(a in any::<i64>(), b in any::<i64>()) {
        let schema = Schema::standard();
        let normal = rule("integerMatch").normalise(&*schema, b.to_string().as_bytes()).unwrap().into_owned();
        let order = rule("integerOrderingMatch").compare(&*schema, a.to_string().as_bytes(), &normal);
        prop_assert_eq!(order, Some(a.cmp(&b)));
    }

    #[test]
    fn times_sort_as_times(a in 0u64..200_000, b in 0u64..200_000, tenths in 0u64..10, zone in -720i64..720) {
        // Both times within days that exist: minutes since the start of 2023.
        let schema = Schema::standard();
        let written = |minutes: u64, tenths: u64| {
            let (day, hour, minute) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
            format!("2023{:02}{:02}{hour:02}{minute:02}00.{tenths}Z", day / 28 % 12 + 1, day % 28 + 1)
        };
        let rule = rule("generalizedTimeOrderingMatch");
        let (ta, tb) = (written(a % 480_000, tenths), written(b % 480_000, 0));
        let normal = rule.normalise(&*schema, tb.as_bytes()).unwrap().into_owned();
        prop_assert_eq!(rule.compare(&*schema, ta.as_bytes(), &normal), Some((a, tenths).cmp(&(b, 0))));
        // The same wall clock further east is earlier.
        let east = format!("20230615120000{}{:02}{:02}", if zone < 0 { '-' } else { '+' }, zone.abs() / 60, zone.abs() % 60);
        let noon = rule.normalise(&*schema, b"20230615120000Z").unwrap().into_owned();
        prop_assert_eq!(rule.compare(&*schema, east.as_bytes(), &noon), Some(0.cmp(&zone)));
    }

    #[test]
    fn substrings_agree_with_the_marked_form(value in "[ab ]{1,8}", pieces in prop::collection::vec("[ab ]{1,3}", 1..4), open in any::<(bool, bool)>()) {
        let schema = Schema::standard();
        let rule = rule("caseIgnoreSubstringsMatch");
        let all: Vec<&[u8]> = pieces.iter().map(|piece| piece.as_bytes()).collect();
        let (initial, rest) = if open.0 { (None, &all[..]) } else { (Some(all[0]), &all[1..]) };
        let (final_, any) = if open.1 || rest.is_empty() { (None, rest) } else { (Some(rest[rest.len() - 1]), &rest[..rest.len() - 1]) };
        let assertion = rule.substring_assertion(initial, any.iter().copied(), final_).unwrap();
        let expected = by_the_book(&value, initial, any, final_);
        prop_assert_eq!(rule.substring_matches(&*schema, &assertion, value.as_bytes()), Truth::from(expected), "{:?} {:?}", value, pieces);
        if expected {
            // The property that an index relies on.
            let normal = rule.normalise(&*schema, value.as_bytes()).unwrap();
            let contains = |piece: &[u8]| piece.is_empty() || normal.windows(piece.len()).any(|w| w == piece);
            prop_assert!(normal == b" ".as_slice() || normal.starts_with(assertion.initial().unwrap_or(b"")));
            prop_assert!(normal == b" ".as_slice() || normal.ends_with(assertion.final_().unwrap_or(b"")));
            prop_assert!(assertion.any().all(contains));
        }
    }

    #[test]
    fn names_survive_printing(values in prop::collection::vec(text(), 1..4)) {
        let schema = Schema::standard();
        let mut name = String::new();
        for value in values.iter().filter(|value| rule("caseIgnoreMatch").normalise(&*schema, value.as_bytes()).is_ok()) {
            let hex: String = value.bytes().map(|b| format!("\\{b:02x}")).collect();
            name += &format!("{}cn={hex}", if name.is_empty() { "" } else { "," });
        }
        let dn = Dn::parse(&schema, &name).unwrap();
        let pretty = Dn::parse(&schema, dn.pretty()).unwrap();
        prop_assert_eq!(pretty.normal(), dn.normal());
        let again = Dn::parse(&schema, dn.normal()).unwrap();
        prop_assert_eq!(again.normal(), dn.normal());
        prop_assert_eq!(dn.normal().split(',').filter(|rdn| !rdn.is_empty()).count(), dn.depth());
        let rule = rule("distinguishedNameMatch");
        prop_assert_eq!(rule.matches(&*schema, dn.normal().as_bytes(), name.as_bytes()), Truth::True);
        prop_assert_eq!(rule.matches(&*schema, dn.normal().as_bytes(), dn.pretty().as_bytes()), Truth::True);
    }

    #[test]
    fn names_compare_in_place_as_by_normal_form(a in "(uid|cn|OU)=[aA ]{0,2}[aAb](,dc=[xX])?", b in " ?(UID|cn|ou)=[aA ]{0,2}[aAb] ?(,dc=[xX] ?)?") {
        let schema = Schema::standard();
        let rule = rule("distinguishedNameMatch");
        let (na, nb) = (rule.normalise(&*schema, a.as_bytes()).unwrap(), rule.normalise(&*schema, b.as_bytes()).unwrap());
        prop_assert_eq!(rule.matches(&*schema, &na, b.as_bytes()), Truth::from(na == nb), "{:?} {:?}", a, b);
    }

    #[test]
    fn any_bytes_are_answered(value in prop::collection::vec(any::<u8>(), 0..40)) {
        let schema = Schema::standard();
        for rule in MatchingRule::all() {
            if let Ok(normal) = rule.normalise(&*schema, &value) {
                prop_assert_eq!(rule.compare(&*schema, &value, &normal), Some(Ordering::Equal));
            }
            let _ = rule.normalise_assertion(&*schema, &value).map(|normal| rule.matches(&*schema, &normal, &value));
        }
        for syntax in fulgurite_schema::Syntax::all() {
            let _ = syntax.validate(&*schema, &value);
        }
        let _ = Dn::parse_bytes(&schema, &value);
        let _ = schema.describe(&value);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_schema_text_is_an_error_or_a_schema(
        at in prop::collection::vec((0usize..2000, prop::sample::select(vec!['(', ')', '\'', '$', '{', '}', ' ', '\n', 'x', '1', '.', ':', '#', 'é', '\0'])), 1..8),
        cut in 0usize..2000,
    ) {
        let mut text: Vec<char> = SAMPLE.chars().cycle().take(SAMPLE.chars().count()).collect();
        for (position, c) in at {
            let position = position % text.len();
            text[position] = c;
        }
        text.truncate(text.len() - cut % text.len());
        let text: String = text.into_iter().collect();
        if let Ok(builder) = SchemaBuilder::standard().text("damaged", &text) {
            let _ = builder.build();
        }
    }
}

const SAMPLE: &str = "objectidentifier base 1.3.6.1.4.1.32473
objectidentifier types base:1
attributetype ( types:1 NAME ( 'badge' 'badgeNumber' ) DESC 'it''s' SUP name SYNTAX 1.3.6.1.4.1.1466.115.121.1.15{64} SINGLE-VALUE )
attributetype ( types:2 NAME 'colour'
  EQUALITY caseIgnoreMatch SUBSTR caseIgnoreSubstringsMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 X-ORIGIN ( 'a' 'b' ) )
objectclass ( base:2 NAME 'badged' SUP top AUXILIARY MUST badge MAY ( colour $ cn ) )
ditcontentrule ( 2.5.6.6 NAME 'people' AUX badged MAY colour )
ldapsyntax ( base:3 DESC 'odd' X-SUBST '1.3.6.1.4.1.1466.115.121.1.15' )
";

/// Substring matching on the marked form of RFC 4518, section 2.6.1, spelt out.
fn by_the_book(value: &str, initial: Option<&[u8]>, any: &[&[u8]], final_: Option<&[u8]>) -> bool {
    let words = |text: &str| {
        text.split(' ')
            .filter(|w| !w.is_empty())
            .collect::<Vec<_>>()
            .join("  ")
    };
    let marked = |piece: &[u8], first: bool, last: bool| {
        let piece = std::str::from_utf8(piece).unwrap();
        if words(piece).is_empty() {
            return " ".to_owned();
        }
        let lead = if first || piece.starts_with(' ') {
            " "
        } else {
            ""
        };
        let trail = if last || piece.ends_with(' ') {
            " "
        } else {
            ""
        };
        format!("{lead}{}{trail}", words(piece))
    };
    let value = format!(" {} ", words(value));
    let initial = initial.map_or(String::new(), |piece| marked(piece, true, false));
    let final_ = final_.map_or(String::new(), |piece| marked(piece, false, true));
    let Some(rest) = value.strip_prefix(&initial) else {
        return false;
    };
    let Some(mut rest) = rest.strip_suffix(&final_) else {
        return false;
    };
    for piece in any {
        let piece = marked(piece, false, false);
        let Some(at) = rest.find(&piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    true
}

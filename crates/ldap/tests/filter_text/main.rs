//! Filters as text (RFC 4515).

use fulgurite_ldap::{Fault, Filter, FilterBuf, FilterTextError, Junction, Step};
use proptest::prelude::*;

fn reprint(text: &str) -> String {
    FilterBuf::parse(text)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .to_string()
}

#[test]
fn examples_of_the_rfc_print_as_they_were() {
    // RFC 4515 section 4, but for hexadecimal digits, which we write in lower case.
    for text in [
        "(cn=Babs Jensen)",
        "(!(cn=Tim Howes))",
        "(&(objectClass=Person)(|(sn=Jensen)(cn=Babs J*)))",
        "(o=univ*of*mich*)",
        "(seeAlso=)",
        "(cn:caseExactMatch:=Fred Flintstone)",
        "(cn:=Betty Rubble)",
        "(sn:dn:2.4.6.8.10:=Barney Rubble)",
        "(o:dn:=Ace Industry)",
        "(:1.2.3:=Wilma Flintstone)",
        "(:dn:2.4.6.8.10:=Dino)",
        "(o=Parens R Us \\28for all your parenthetical needs\\29)",
        "(cn=*\\2a*)",
        "(filename=C:\\5cMyFile)",
        "(cn=*)",
        "(&)",
        "(|)",
        "(a>=b)",
        "(a<=b)",
        "(a~=b)",
        "(a;lang-de=b)",
        "(2.5.4.3=b)",
        "(cn=a:=b)",
    ] {
        assert_eq!(reprint(text), text);
    }
    assert_eq!(reprint("(bin=\\00\\00\\00\\04)"), "(bin=\\00\\00\\00\u{4})");
    assert_eq!(reprint("(sn=Lu\\c4\\8di\\c4\\87)"), "(sn=Lučić)");
    assert_eq!(
        reprint("(1.3.6.1.4.1.1466.0=\\04\\02\\48\\69)"),
        "(1.3.6.1.4.1.1466.0=\u{4}\u{2}Hi)"
    );
    assert_eq!(reprint("(cn=\\FF\\fE)"), "(cn=\\ff\\fe)");
}

#[test]
fn leniencies() {
    assert_eq!(reprint("uid=ada"), "(uid=ada)");
    assert_eq!(reprint(" ( & (a=b) ( | (c=d) ) ) "), "(&(a=b)(|(c=d)))");
    assert_eq!(reprint("(cn= spaces stay )"), "(cn= spaces stay )");
}

#[test]
fn choices_are_recognised() {
    let buf = FilterBuf::parse("(cn=a*b*c*d)").expect("valid");
    let Filter::Substrings(parts) = buf.filter() else {
        panic!()
    };
    assert_eq!(
        (parts.initial, parts.final_),
        (Some(&b"a"[..]), Some(&b"d"[..]))
    );
    assert!(parts.any.iter().eq([&b"b"[..], b"c"]));
    let buf = FilterBuf::parse("(cn=*x*)").expect("valid");
    let Filter::Substrings(parts) = buf.filter() else {
        panic!()
    };
    assert_eq!(
        (parts.initial, parts.any.len(), parts.final_),
        (None, 1, None)
    );
    let buf = FilterBuf::parse("(:DN:2.4.6:=x)").expect("valid");
    let Filter::Extensible(parts) = buf.filter() else {
        panic!()
    };
    assert!(parts.dn_attributes && parts.attribute.is_none() && parts.rule == Some(b"2.4.6"));
    assert_eq!(
        FilterBuf::parse("(cn=*)").expect("valid").filter(),
        Filter::present("cn")
    );
    assert_eq!(
        FilterBuf::parse("(cn=x)").expect("valid").filter(),
        Filter::equality("cn", b"x")
    );
}

#[test]
fn walks_open_and_close_every_filter() {
    let buf = FilterBuf::parse("(&(a=1)(!(|(b=2))))").expect("valid");
    let filter = buf.filter();
    let steps: Vec<String> = filter
        .walk()
        .map(|step| match step {
            Step::Open(junction) => format!("open {junction:?}"),
            Step::Leaf(leaf) => leaf.to_string(),
            Step::Close(junction) => format!("close {junction:?}"),
        })
        .collect();
    assert_eq!(
        steps,
        [
            "open And",
            "(a=1)",
            "open Not",
            "open Or",
            "(b=2)",
            "close Or",
            "close Not",
            "close And"
        ]
    );
    assert_eq!(
        filter
            .walk()
            .filter(|step| *step == Step::Open(Junction::Not))
            .count(),
        1
    );
}

#[test]
fn mistakes_are_pointed_at() {
    use FilterTextError as E;
    for (text, error) in [
        ("", E::NoOperator(0)),
        ("(", E::Unfinished),
        ("()", E::NoOperator(1)),
        ("(cn)", E::NoOperator(1)),
        ("(cn=a", E::Unfinished),
        ("(&(cn=a)", E::Unfinished),
        ("(cn=a))", E::Unexpected(6)),
        ("(&cn=a)", E::Unexpected(2)),
        ("(cn=a(b)", E::Unexpected(5)),
        ("(=a)", E::Attribute(1)),
        ("(c n=a)", E::Attribute(1)),
        ("(:=a)", E::Attribute(1)),
        ("(:dn:=a)", E::Attribute(1)),
        ("(a:b:c:=d)", E::Attribute(1)),
        ("(cn=a\\)", E::Escape(5)),
        ("(cn=a\\2)", E::Escape(5)),
        ("(cn=a\\zz)", E::Escape(5)),
        ("(cn=a**b)", E::Asterisk(6)),
        ("(cn=**)", E::Asterisk(5)),
        ("(cn>=a*)", E::Asterisk(6)),
        ("(!)", E::Not(1)),
        ("(!(a=b)(c=d))", E::Not(1)),
        ("(&(a=b)) (c=d)", E::Unexpected(9)),
    ] {
        assert_eq!(FilterBuf::parse(text), Err(error), "{text:?}");
    }
}

#[test]
fn depth_is_bounded_in_text_as_on_the_wire() {
    let nested = |depth: usize| format!("{}(a=b){}", "(!".repeat(depth), ")".repeat(depth));
    let run = move || {
        let text = nested(1000);
        assert_eq!(
            FilterBuf::parse(&text).expect("at the limit").to_string(),
            text
        );
        assert_eq!(
            FilterBuf::parse(&nested(1001)),
            Err(FilterTextError::TooDeep(1000))
        );
        assert_eq!(
            FilterBuf::parse(&"(&".repeat(100_000)),
            Err(FilterTextError::TooDeep(1000))
        );
    };
    std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(run)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

#[test]
fn encodings_are_checked() {
    let buf = FilterBuf::parse("(&(a=b)(c=*))").expect("valid");
    assert_eq!(
        FilterBuf::from_encoded(buf.encoded().to_vec()),
        Ok(buf.clone())
    );
    assert_eq!(FilterBuf::from_tree(&buf.filter()), Ok(buf.clone()));
    let mut deep = Filter::present("cn");
    for _ in 0..1001 {
        deep = Filter::Not(Box::new(deep));
    }
    assert_eq!(FilterBuf::from_tree(&deep), Err(Fault::FilterTooDeep(1000)));
    for cut in 0..buf.encoded().len() {
        assert!(FilterBuf::from_encoded(buf.encoded()[..cut].to_vec()).is_err());
    }
    assert!(FilterBuf::from_encoded([buf.encoded(), &[0]].concat()).is_err());
}

/// Text of a filter, built so that it is in the form we print.
fn filter_text() -> impl Strategy<Value = String> {
    let value = "[a-zA-Zäß€ =:<>~&|!.,]{0,12}|(\\\\2a|\\\\28|\\\\29|\\\\5c|\\\\00|\\\\ff){1,3}";
    let piece = "[a-zäß ]{1,5}|\\\\2a";
    let name = "[a-z][a-z0-9-]{0,6}(;[a-z]{1,3})?";
    let leaf = prop_oneof![
        (name, "=|>=|<=|~=", value)
            .prop_map(|(name, operator, value)| format!("({name}{operator}{value})")),
        name.prop_map(|name| format!("({name}=*)")),
        (
            name,
            proptest::option::of(piece),
            proptest::collection::vec(piece, 0..3),
            proptest::option::of(piece)
        )
            .prop_filter("a piece", |(_, initial, any, last)| initial.is_some()
                || last.is_some()
                || !any.is_empty())
            .prop_map(|(name, initial, any, last)| {
                let any: String = any.iter().map(|piece| format!("{piece}*")).collect();
                format!(
                    "({name}={}*{any}{})",
                    initial.unwrap_or_default(),
                    last.unwrap_or_default()
                )
            }),
        (
            name,
            any::<bool>(),
            proptest::option::of("[1-9](\\.[1-9]){1,3}"),
            value
        )
            .prop_map(|(name, dn, rule, value)| {
                let rule = rule.map(|rule| format!(":{rule}")).unwrap_or_default();
                format!("({name}{}{rule}:={value})", if dn { ":dn" } else { "" })
            }),
    ];
    leaf.prop_recursive(6, 40, 4, |inner| {
        prop_oneof![
            ("[&|]", proptest::collection::vec(inner.clone(), 0..4))
                .prop_map(|(sign, parts)| format!("({sign}{})", parts.concat())),
            inner.prop_map(|part| format!("(!{part})")),
        ]
    })
}

proptest! {
    #[test]
    fn property_text_to_tree_to_text(text in filter_text()) {
        let buf = FilterBuf::parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!(buf.to_string(), text);
        prop_assert_eq!(FilterBuf::from_tree(&buf.filter()), Ok(buf.clone()));
    let mut deep = Filter::present("cn");
    for _ in 0..1001 {
        deep = Filter::Not(Box::new(deep));
    }
    assert_eq!(FilterBuf::from_tree(&deep), Err(Fault::FilterTooDeep(1000)));
    }

    #[test]
    fn property_any_text_is_an_answer(text in "[()&|!=*:<>~\\\\a-f0-9 ä\0]{0,40}") {
        if let Ok(buf) = FilterBuf::parse(&text) {
            let again = FilterBuf::parse(&buf.to_string());
            prop_assert_eq!(again.as_ref(), Ok(&buf));
        }
    }

    #[test]
    fn property_any_value_survives(value in proptest::collection::vec(any::<u8>(), 0..40)) {
        let text = Filter::equality("cn", &value).to_string();
        let buf = FilterBuf::parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!(buf.filter(), Filter::equality("cn", &value));
    }
}

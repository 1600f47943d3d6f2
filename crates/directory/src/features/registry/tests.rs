//! Tests of the directives of overlays, and of their texts.

use super::*;
use fulgurite_policy::{OVERLAYS, Origin, OverlayLine};
use fulgurite_schema::{Builtin, SchemaBuilder};

/// Returns the settings of an overlay, with directives as words.
fn settings(name: &str, lines: &[&[&str]]) -> OverlaySettings {
    let mut settings = OverlaySettings::new(name, Origin::Default);
    for words in lines {
        let (keyword, arguments) = words.split_first().expect("a keyword");
        let directive = find_overlay(name).and_then(|row| row.directive(keyword));
        let line = OverlayLine {
            directive: directive.expect(keyword),
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        };
        settings.lines.push(Sourced::by_default(line));
    }
    settings
}

fn check(overlay: OverlaySettings) -> Result<OverlayReport, String> {
    let schema = Schema::standard();
    let suffix = Dn::parse(&schema, "dc=x").expect("a name");
    check_overlays(&schema, &[suffix], &[overlay]).map_err(|error| error.value)
}

/// Returns slapd's sentence about one directive.
fn refusal(overlay: &str, words: &[&str]) -> String {
    let outcome = check(settings(overlay, &[words]));
    outcome.map_or_else(|text| text, |_| "accepted".to_owned())
}

#[test]
fn every_built_in_overlay_has_a_feature_and_no_other_overlay_has_one() {
    for overlay in OVERLAYS {
        let has_feature = FEATURES
            .iter()
            .any(|feature| feature.overlay == overlay.name);
        let is_built_in = matches!(
            overlay.support,
            OverlaySupport::BuiltIn | OverlaySupport::PerDatabase
        );
        assert_eq!(has_feature, is_built_in, "{}", overlay.name);
    }
}

#[test]
fn the_schema_has_what_the_configuration_tree_shows_of_overlays() {
    let schema = SchemaBuilder::standard().builtin(Builtin::Overlays);
    let schema = schema.build().expect("the built-in schema resolves");
    for overlay in OVERLAYS {
        for directive in overlay.directives {
            let olc = directive.olc;
            assert!(schema.attribute(olc).is_some(), "{} {olc}", overlay.name);
        }
        let mut features = FEATURES.iter();
        if features.any(|feature| feature.overlay == overlay.name) {
            let class = overlay.olc_class;
            assert!(schema.object_class(class).is_some(), "{class}");
        }
    }
}

#[test]
fn directives_of_sssvlv_set_the_limits_of_sorted_searches() {
    let overlay = settings(
        "sssvlv",
        &[
            &["sssvlv-max", "7"],
            &["olcSssVlvMaxKeys", "3"],
            &["SSSVLV-MAXPERCONN", "-1"],
        ],
    );
    let mut limits = SortLimits::default();
    compile(&Schema::standard(), &[], &[overlay], &mut limits).expect("it is built in");
    let expected = SortLimits {
        sorts_max: 7,
        keys_max: 3,
        ..SortLimits::default()
    };
    assert_eq!(limits, expected);
    // slapd's conversion writes 0 for its own default.
    let overlay = settings("sssvlv", &[&["olcSssVlvMax", "0"]]);
    compile(&Schema::standard(), &[], &[overlay], &mut limits).expect("it is built in");
    assert_eq!(limits, expected);
}

#[test]
fn an_overlay_that_changes_answers_is_refused() {
    assert_eq!(
        check(settings("dds", &[])),
        Err("overlay \"dds\": dynamic entries would not expire".to_owned())
    );
    let unknown = OverlaySettings::new("nothing", Origin::Default);
    assert!(check(unknown).is_err());
}

#[test]
fn wrong_directives_of_accesslog_are_refused_in_slapds_words() {
    let base: &[&str] = &["logdb", "cn=log"];
    for (words, text) in [
        (
            &["logdb", "bad"][..],
            "<logdb> invalid DN 21 (Invalid syntax)",
        ),
        (
            &["logdb", "cn=log", "x"],
            "<logdb> extra cruft after <suffix>.",
        ),
        (
            &["logops", "writes", "foo"],
            "<logops> handler exited with 1!",
        ),
        (&["logbase", "foo", "dc=x"], "logbase invalid ops: foo"),
        (
            &["logbase", "writes|bind", "bad"],
            "logbase invalid DN: bad",
        ),
        (
            &["logoldattr", "cn", "x"],
            "logoldattr <x>: attribute type undefined",
        ),
        (
            &["logpurge", "07:00"],
            "keyword <logpurge> missing <age> <interval> argument",
        ),
        (
            &["logpurge", "7+7:0", "01:00"],
            "<logpurge> handler exited with 1!",
        ),
        (
            &["logpurge", "123456+00:00", "01:00"],
            "<logpurge> handler exited with 1!",
        ),
        (
            &["logpurge", "00:61", "00:10", "x"],
            "<logpurge> extra cruft after <age> <interval>.",
        ),
        (&["logsuccess", "maybe"], "<logsuccess> invalid value"),
    ] {
        let refused = check(settings("accesslog", &[base, words]));
        assert_eq!(refused, Err(text.to_owned()), "{words:?}");
    }
    let missing = "accesslog: \"logdb <suffix>\" missing or invalid.";
    assert_eq!(check(settings("accesslog", &[])), Err(missing.to_owned()));
}

#[test]
fn all_directives_of_accesslog_have_their_effect() {
    let lines: [&[&str]; 5] = [
        &["logdb", "cn=log"],
        &["logops", "all", "extended"],
        &["logbase", "reads|bind", "dc=x"],
        &["logold", "(cn=*)"],
        &["logoldattr", "cn", "sn"],
    ];
    let report = check(settings("accesslog", &lines)).expect("accepted");
    assert_eq!(report.warnings, []);
}

#[test]
fn guards_are_asked_in_reverse_order_of_the_configuration() {
    let overlays = [settings("unique", &[]), settings("constraint", &[])];
    let mut limits = SortLimits::default();
    let features = compile(&Schema::standard(), &[], &overlays, &mut limits).expect("both");
    assert!(matches!(
        features.guards.as_slice(),
        [Guard::Constraint(_), Guard::Unique(_)]
    ));
}

#[test]
fn wrong_directives_of_unique_are_refused_in_slapds_words() {
    for (value, text) in [
        ("", "keyword <unique_uri> missing <ldapuri> argument"),
        ("foo", "<foo> invalid ldap urilist"),
        ("strict foo", "<foo> invalid ldap urilist"),
        ("ignore", "<ignore> invalid ldap urilist"),
        ("ldap://h/?mail?sub", "host <h> not allowed in URI"),
        (
            "ldap:///dc=y?mail?sub",
            "dn <dc=y> is not a suffix of backend base dn <dc=x>",
        ),
        (
            "ldap:///bad,,?mail?sub",
            "<bad,,> invalid DN 21 (Invalid syntax)",
        ),
        (
            "ldap:///?x?sub",
            "unique: attribute: x: attribute type undefined",
        ),
        (
            "ldap:///?a+b?sub",
            "unique: attribute: a+b: AttributeDescription contains inappropriate characters",
        ),
        (
            "ldap:///?mail?base",
            "unique: uri with base scope will always be unique",
        ),
        ("ldap:///?mail?sub?(bad", "unique: bad filter"),
        (
            "serialize STRICT ignore ldap:///dc=x?mail?one?(sn=*) ldap:///?cn?sub",
            "accepted",
        ),
    ] {
        assert_eq!(refusal("unique", &["unique_uri", value]), text, "{value}");
    }
    for (words, text) in [
        (
            &["unique_base", "foo"][..],
            "<unique_base> invalid DN 21 (Invalid syntax)",
        ),
        (
            &["unique_ignore", "x"],
            "unique: attribute: x: attribute type undefined",
        ),
        (&["unique_strict", "maybe"], "<unique_strict> invalid value"),
        (&["unique_strict"], "accepted"),
    ] {
        assert_eq!(refusal("unique", words), text, "{words:?}");
    }
    let uri: &[&str] = &["unique_uri", "ldap:///?mail?sub"];
    let (some, others): (&[&str], &[&str]) =
        (&["unique_attributes", "mail"], &["unique_ignore", "cn"]);
    for (lines, text) in [
        ([uri, some], "cannot set legacy attrs when URIs are present"),
        ([some, uri], "cannot set URIs when legacy attrs are present"),
        ([some, others], "cannot set both attrs and ignore-attrs"),
    ] {
        assert_eq!(check(settings("unique", &lines)), Err(text.to_owned()));
    }
}

#[test]
fn wrong_directives_of_constraint_are_refused_in_slapds_words() {
    let missing = "keyword <constraint_attribute> missing <attribute[list]> (regex|negregex|uri|set|size|count) <value> [<restrict URI>]> argument";
    for (words, text) in [
        ("", missing),
        ("mail size", missing),
        (
            "x size 3",
            "constraint_attribute <x>: attribute type undefined",
        ),
        (
            "mail foo 3",
            "constraint_attribute mail: Unknown constraint type: foo",
        ),
        (
            "mail size x",
            "constraint_attribute mail: \"x\" is no number",
        ),
        (
            "mail regex (",
            "constraint_attribute mail: Illegal regular expression \"(\": Error bad regular expression: unclosed group",
        ),
        (
            "mail uri foo",
            "constraint_attribute mail: Invalid URI \"foo\"",
        ),
        (
            "mail uri ldap://h/?cn",
            "constraint_attribute mail: unsupported hostname in URI \"ldap://h/?cn\"",
        ),
        (
            "mail uri ldap:///dc=x",
            "constraint_attribute mail: no attributes in URI \"ldap:///dc=x\"",
        ),
        (
            "mail uri ldap:///?cn?sub?(bad",
            "constraint_attribute mail: invalid URI filter: (bad",
        ),
        (
            "mail set (this/",
            "constraint_attribute mail: set \"(this/\": expected an attribute in a set",
        ),
        (
            "mail size 3 restrict=ldap:///dc=y",
            "constraint_attribute mail: restrict URI DN dc=y not within database naming context(s)",
        ),
        (
            "mail size 3 restrict=ldap:///dc=x?cn",
            "constraint_attribute mail: attrs not allowed in restrict URI ldap:///dc=x?cn",
        ),
        (
            "mail size 3 restrict=ldap:///???(bad",
            "constraint_attribute mail: restrict URI filter (bad invalid",
        ),
        (
            "mail size 3 foo=1",
            "constraint_attribute mail: unrecognized arg #4 (foo=1)",
        ),
        ("mail,title COUNT -1", "accepted"),
        ("mail uri ldap:///dc=y?cn?sub", "accepted"),
    ] {
        let mut line = vec!["constraint_attribute"];
        line.extend(words.split_whitespace());
        assert_eq!(refusal("constraint", &line), text, "{words}");
    }
}

#[test]
fn wrong_directives_of_lastbind_are_refused_in_slapds_words() {
    for (words, text) in [
        (
            &["lastbind-precision"][..],
            "keyword <lastbind-precision> missing <seconds> argument",
        ),
        (
            &["lastbind-precision", "x"],
            "<lastbind-precision> unable to parse \"x\" as int",
        ),
        (
            &["lastbind_forward_updates", "x"],
            "<lastbind_forward_updates> invalid value",
        ),
        (&["lastbind-precision", "-1"], "accepted"),
        (&["lastbind_forward_updates", "on"], "accepted"),
    ] {
        assert_eq!(refusal("lastbind", words), text, "{words:?}");
    }
}

#[test]
fn wrong_directives_of_ppolicy_are_refused_in_slapds_words() {
    let schema = SchemaBuilder::standard().builtin(Builtin::PasswordPolicy);
    let schema = schema.build().expect("the built-in schema resolves");
    let suffix = Dn::parse(&schema, "dc=x").expect("a name");
    let check = |lines: &[&[&str]], count| {
        let overlays = vec![settings("ppolicy", lines); count];
        let report = check_overlays(&schema, std::slice::from_ref(&suffix), &overlays);
        report.map_err(|error| error.value)
    };
    for (words, text) in [
        (
            &["ppolicy_default", "foo"][..],
            "<ppolicy_default> invalid DN 21 (Invalid syntax)",
        ),
        (
            &["ppolicy_default"],
            "keyword <ppolicy_default> missing <policyDN> argument",
        ),
        (
            &["ppolicy_hash_cleartext", "maybe"],
            "<ppolicy_hash_cleartext> invalid value",
        ),
        (&["ppolicy_use_lockout"], "accepted"),
        (&["ppolicy_forward_updates"], "accepted"),
    ] {
        let outcome = check(&[words], 1);
        let outcome = outcome.map_or_else(|text| text, |_| "accepted".to_owned());
        assert_eq!(outcome, text, "{words:?}");
    }
    let twice = check(&[], 2).expect_err("one for each database");
    assert_eq!(
        twice,
        "overlay_config(): overlay \"ppolicy\" already in list"
    );
}

#[test]
fn wrong_directives_of_auditlog_are_refused_in_slapds_words() {
    for (words, text) in [
        (
            &["auditlog"][..],
            "keyword <auditlog> missing <filename> argument",
        ),
        (
            &["auditlog", "a", "b"],
            "<auditlog> extra cruft after <filename>.",
        ),
        (&["auditlog", ""], "accepted"),
    ] {
        assert_eq!(refusal("auditlog", words), text, "{words:?}");
    }
}

#[test]
fn wrong_directives_of_refint_are_refused_in_slapds_words() {
    for (words, text) in [
        (
            &["refint_attributes"][..],
            "keyword <refint_attributes> missing <attribute...> argument",
        ),
        (
            &["refint_attributes", "x"],
            "refint_attributes <x>: attribute type undefined",
        ),
        (
            &["refint_attributes", "member,owner"],
            "refint_attributes <member,owner>: AttributeDescription contains inappropriate characters",
        ),
        (
            &["refint_nothing", "x"],
            "<refint_nothing> invalid DN 21 (Invalid syntax)",
        ),
        (
            &["refint_nothing", "cn=a", "b"],
            "<refint_nothing> extra cruft after <string>.",
        ),
        (
            &["refint_modifiersname", "x"],
            "<refint_modifiersname> invalid DN 21 (Invalid syntax)",
        ),
        (
            &["refint_modifiersname", "cn=a", "b"],
            "<refint_modifiersname> extra cruft after <DN>.",
        ),
        (&["refint_nothing", ""], "accepted"),
        (
            &["refint_attributes", "member", "uniqueMember;lang-de"],
            "accepted",
        ),
    ] {
        assert_eq!(refusal("refint", words), text, "{words:?}");
    }
    let report = check(settings(
        "refint",
        &[&["refint_attributes", "cn", "member"]],
    ));
    let report = report.expect("accepted");
    let texts: Vec<&str> = report.warnings.iter().map(|w| w.value.as_str()).collect();
    let warning = "refint_attributes cn: the values are no names, so none of them follows";
    assert_eq!(texts, [warning]);
    assert_eq!(report.lookups.len(), 1);
}

#[test]
fn wrong_directives_of_memberof_are_refused_in_slapds_words() {
    let no_name = |kind: &str| {
        format!(
            "{kind} attribute=\"cn\" must either have DN (1.3.6.1.4.1.1466.115.121.1.12) or nameUID (1.3.6.1.4.1.1466.115.121.1.34) syntax."
        )
    };
    for (words, text) in [
        ("dn x", "<memberof-dn> invalid DN 21 (Invalid syntax)"),
        ("dn a b", "<memberof-dn> extra cruft after <modifiersName>."),
        ("dn", "accepted"),
        (
            "dangling",
            "keyword <memberof-dangling> missing <ignore|drop|error> argument",
        ),
        ("dangling foo", "<memberof-dangling> handler exited with 1!"),
        ("dangling DROP", "accepted"),
        (
            "refint",
            "keyword <memberof-refint> missing <true|FALSE> argument",
        ),
        ("refint foo", "<memberof-refint> invalid value"),
        ("refint yes", "accepted"),
        ("group-oc x", "unable to find group objectClass=\"x\"."),
        ("group-oc PERSON", "accepted"),
        (
            "member-ad",
            "keyword <memberof-member-ad> missing <member attribute> argument",
        ),
        (
            "member-ad x",
            "<memberof-member-ad> invalid AttributeDescription 17 (attribute type undefined)",
        ),
        (
            "member-ad member;x-a",
            "<memberof-member-ad> invalid AttributeDescription 17 (unrecognized option)",
        ),
        ("member-ad cn", no_name("member").as_str()),
        ("member-ad UNIQUEMEMBER", "accepted"),
        ("memberof-ad cn", no_name("memberof").as_str()),
        ("memberof-ad seeAlso", "accepted"),
        (
            "addcheck",
            "keyword <memberof-addcheck> missing <true|FALSE> argument",
        ),
        ("addcheck foo", "<memberof-addcheck> invalid value"),
        ("addcheck TRUE", "accepted"),
        (
            "dangling-error x",
            "<memberof-dangling-error> handler exited with 1!",
        ),
        (
            "dangling-error 0",
            "<memberof-dangling-error> 0: a refusal is no success",
        ),
        ("dangling-error NOSUCHOBJECT", "accepted"),
        ("dangling-error strongAuthRequired", "accepted"),
        ("dangling-error strongerAuthRequired", "accepted"),
        ("dangling-error 0x20", "accepted"),
        (
            "dangling-error 1 2",
            "<memberof-dangling-error> extra cruft after <error code>.",
        ),
    ] {
        let line = format!("memberof-{words}");
        let line: Vec<&str> = line.split(' ').collect();
        assert_eq!(refusal("memberof", &line), text, "{words}");
    }
}

#[test]
fn wrong_directives_of_dynlist_are_refused_in_slapds_words() {
    let schema = SchemaBuilder::standard().builtin(Builtin::DynGroup);
    let schema = schema.build().expect("the built-in schema resolves");
    let suffix = Dn::parse(&schema, "dc=x").expect("a name");
    let usage = "\"dynlist-attrset <oc> [uri] <URL-ad> [[<mapped-ad>:]<member-ad>[+<memberOf-ad>[@<static-oc>[*]] ...]\": ";
    let missing = "keyword <dynlist-attrset> missing <group-oc> [uri] <URL-ad> <[mapped:]member-ad> [...]> argument";
    for (words, text) in [
        ("groupOfURLs", missing.to_owned()),
        (
            "x memberURL",
            format!("{usage}unable to find ObjectClass \"x\"."),
        ),
        (
            "groupOfURLs cn",
            format!("{usage}AttributeDescription \"cn\" must be a subtype of \"labeledURI\"."),
        ),
        (
            "groupOfURLs x",
            format!("{usage}unable to find AttributeDescription \"x\"."),
        ),
        (
            "groupOfURLs memberURL member x",
            format!("{usage}unable to find AttributeDescription #1 \"x\""),
        ),
        (
            "groupOfURLs memberURL a:b:c",
            format!("{usage}unable to find mapped AttributeDescription #0 \"a:b:c\""),
        ),
        (
            "groupOfURLs memberURL sn:x",
            format!("{usage}unable to find AttributeDescription #0 \"sn:x\""),
        ),
        (
            "groupOfURLs memberURL member+x",
            format!("{usage}unable to find memberOf AttributeDescription #0 \"member+x\""),
        ),
        (
            "groupOfURLs memberURL member+memberOf@x*",
            format!("{usage}unable to find static-oc ObjectClass #0 \"member+memberOf@x\""),
        ),
        (
            "groupOfURLs memberURL member+cn",
            format!(
                "{usage}AttributeDescription \"cn\" must have DN (1.3.6.1.4.1.1466.115.121.1.12) or nameUID (1.3.6.1.4.1.1466.115.121.1.34) syntax."
            ),
        ),
        (
            "groupOfURLs ldap://host/dc=x memberURL",
            format!("{usage}host not allowed in URI \"ldap://host/dc=x\"."),
        ),
        (
            "groupOfURLs ldap:///dc=x?cn memberURL",
            format!("{usage}attrs not allowed in URI \"ldap:///dc=x?cn\"."),
        ),
        (
            "groupOfURLs ldap:///zz??sub memberURL",
            format!("{usage}DN normalization failed in URI \"ldap:///zz??sub\"."),
        ),
        (
            "groupOfURLs ldap:///dc=x??bad memberURL",
            format!("{usage}unable to parse URI \"ldap:///dc=x??bad\"."),
        ),
        (
            "groupOfURLs ldap:///dc=x??sub?(bad memberURL",
            format!("{usage}filter parsing failed in URI \"ldap:///dc=x??sub?(bad\"."),
        ),
        ("groupOfURLs memberURL", "accepted".to_owned()),
        (
            "GROUPOFURLS MEMBERURL member+memberOf*",
            "accepted".to_owned(),
        ),
        (
            "labeledURIObject labeledURI uniqueMember+seeAlso@groupOfUniqueNames",
            "accepted".to_owned(),
        ),
        ("groupOfURLs memberURL sn:cn mail", "accepted".to_owned()),
    ] {
        let mut line = vec!["dynlist-attrset"];
        line.extend(words.split(' '));
        let overlays = [settings("dynlist", &[&line])];
        let report = check_overlays(&schema, std::slice::from_ref(&suffix), &overlays);
        let outcome = report.map_or_else(|error| error.value, |_| "accepted".to_owned());
        assert_eq!(outcome, text, "{words}");
    }
}

#[test]
fn values_that_do_nothing_or_too_much_get_a_warning() {
    let warned = |value: &str| {
        let report = check(settings("unique", &[&["unique_uri", value]]));
        let mut texts = report.expect(value).warnings.into_iter();
        texts.next().map(|warning| warning.value)
    };
    assert_eq!(
        warned("ldap:///?mail").as_deref(),
        Some("unique_uri \"ldap:///?mail\" has no scope, so nothing is checked: write ?sub")
    );
    assert_eq!(
        warned("ldap:///??sub").as_deref(),
        Some(
            "unique_uri \"ldap:///??sub\" names no attribute, so every value must be unique, also of objectClass"
        )
    );
    assert_eq!(warned("ldap:///?mail?sub"), None);
}

#[test]
fn attributes_that_each_update_looks_up_are_reported() {
    let report = check(settings(
        "unique",
        &[&[
            "unique_uri",
            "ldap:///?mail,jpegPhoto?sub ldap:///?uid?one ldap:///?cn",
        ]],
    ));
    let lookups = report.expect("accepted").lookups;
    let names: Vec<&str> = lookups.iter().map(|name| name.value.as_str()).collect();
    assert_eq!(names, ["mail", "uid"]);
    let report = check(settings(
        "constraint",
        &[&["constraint_attribute", "l", "uri", "ldap:///?o,cn?sub"]],
    ));
    assert_eq!(report.expect("accepted").lookups.len(), 2);
}

//! LDAP URLs (RFC 4516).

use fulgurite_ldap::{LdapUrl, Scheme, Scope, UrlError, UrlExtension};
use proptest::prelude::*;

fn parse(text: &str) -> LdapUrl {
    LdapUrl::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn examples_of_the_rfc() {
    // RFC 4516 section 4.
    let url = parse("ldap://ldap1.example.net/o=University%20of%20Michigan,c=US");
    assert_eq!(
        (url.host.as_deref(), url.port),
        (Some("ldap1.example.net"), None)
    );
    assert_eq!(url.dn, "o=University of Michigan,c=US");
    assert_eq!((url.scope, url.filter), (None, None));

    let url = parse("ldap://ldap1.example.net/o=University%20of%20Michigan,c=US?postalAddress");
    assert_eq!(url.attributes, ["postalAddress"]);

    let url = parse(
        "ldap://ldap1.example.net:6666/o=University%20of%20Michigan,c=US??sub?(cn=Babs%20Jensen)",
    );
    assert_eq!((url.port, url.scope), (Some(6666), Some(Scope::Subtree)));
    assert_eq!(url.filter.as_deref(), Some("(cn=Babs Jensen)"));

    let url = parse("LDAP://ldap1.example.com/c=GB?objectClass?ONE");
    assert_eq!((url.scheme, url.scope), (Scheme::Ldap, Some(Scope::One)));

    assert_eq!(
        parse("ldap://ldap2.example.com/o=Question%3f,c=US?mail").dn,
        "o=Question?,c=US"
    );
    let url = parse("ldap://ldap3.example.com/o=Babsco,c=US???(four-octet=%5c00%5c00%5c00%5c04)");
    assert_eq!(url.filter.as_deref(), Some("(four-octet=\\00\\00\\00\\04)"));
    assert_eq!(
        parse("ldap://ldap.example.com/o=An%20Example%5C2C%20Inc.,c=US").dn,
        "o=An Example\\2C Inc.,c=US"
    );
    assert_eq!(parse("ldap:///"), LdapUrl::new(Scheme::Ldap));

    let url = parse("ldap:///??sub??e-bindname=cn=Manager%2cdc=example%2cdc=com");
    let bind_name = UrlExtension {
        critical: false,
        name: "e-bindname".into(),
        value: Some("cn=Manager,dc=example,dc=com".into()),
    };
    assert_eq!(url.extensions, [bind_name]);
    assert_eq!(url.unknown_critical(&[]), None);
    let url = parse("ldap:///??sub??!e-bindname=cn=Manager%2cdc=example%2cdc=com");
    assert_eq!(
        url.unknown_critical(&[])
            .map(|extension| extension.name.as_str()),
        Some("e-bindname")
    );
    assert_eq!(url.unknown_critical(&["E-BindName"]), None);
}

#[test]
fn hosts_in_every_form() {
    let url = parse("ldaps://[2001:db8::1]:1636");
    assert_eq!(
        (url.host.as_deref(), url.port),
        (Some("2001:db8::1"), Some(1636))
    );
    assert_eq!(url.to_string(), "ldaps://[2001:db8::1]:1636");
    let url = parse("ldapi://%2Frun%2Fslapd.sock/dc=x");
    assert_eq!(
        (url.host.as_deref(), url.dn.as_str()),
        (Some("/run/slapd.sock"), "dc=x")
    );
    assert_eq!(url.to_string(), "ldapi://%2Frun%2Fslapd.sock/dc=x");
    assert_eq!(parse("ldap://:3890").port, Some(3890));
    assert_eq!(
        parse("ldap://127.0.0.1:3890").to_string(),
        "ldap://127.0.0.1:3890"
    );
    assert_eq!(
        parse("ldap://host?cn").attributes,
        ["cn"],
        "the slash may be missing"
    );
}

#[test]
fn mistakes_are_named() {
    for (text, error) in [
        ("http://x/", UrlError::Scheme),
        ("ldap:x", UrlError::Scheme),
        ("ldap://x:99999/", UrlError::Port("99999".into())),
        ("ldap://x:/", UrlError::Port(String::new())),
        ("ldap://x:+1/", UrlError::Port("+1".into())),
        ("ldap://::1/", UrlError::Host(":".into())),
        ("ldap://a]:1/", UrlError::Host("a]".into())),
        ("ldap://[host]/", UrlError::Host("host".into())),
        ("ldap://[::1/", UrlError::Bracket),
        ("ldap://[::1]x/", UrlError::Port("x".into())),
        ("ldap:///a%2", UrlError::Percent("a%2".into())),
        ("ldap:///a%zz", UrlError::Percent("a%zz".into())),
        ("ldap:///%ff", UrlError::NotUtf8("%ff".into())),
        ("ldap:///??all", UrlError::Scope("all".into())),
        ("ldap:///????!", UrlError::Extension),
        ("ldap:///?????", UrlError::TooManyParts),
    ] {
        assert_eq!(LdapUrl::parse(text), Err(error), "{text}");
    }
}

fn url() -> impl Strategy<Value = LdapUrl> {
    let scheme = prop_oneof![Just(Scheme::Ldap), Just(Scheme::Ldaps), Just(Scheme::Ldapi)];
    let host = proptest::option::of("[a-z0-9.]{1,10}|[0-9a-f:]{3,9}:");
    let text = "[a-zA-Z0-9 ?%,=/!#äß()*&\\\\]{1,12}";
    let scope = proptest::option::of(prop_oneof![
        Just(Scope::Base),
        Just(Scope::One),
        Just(Scope::Subtree),
        Just(Scope::Children)
    ]);
    let extension =
        (any::<bool>(), text, proptest::option::of(text)).prop_map(|(critical, name, value)| {
            UrlExtension {
                critical,
                name,
                value,
            }
        });
    let lists = (
        proptest::collection::vec(text, 0..3),
        proptest::collection::vec(extension, 0..3),
    );
    let texts = ("[a-z =,%?ä]{0,12}", proptest::option::of(text));
    (
        scheme,
        host,
        proptest::option::of(any::<u16>()),
        scope,
        texts,
        lists,
    )
        .prop_map(
            |(scheme, host, port, scope, (dn, filter), (attributes, extensions))| LdapUrl {
                scheme,
                host,
                port: port.filter(|_| scheme != Scheme::Ldapi),
                dn,
                attributes,
                scope,
                filter,
                extensions,
            },
        )
}

proptest! {
    #[test]
    fn property_urls_survive_as_text(url in url()) {
        let text = url.to_string();
        prop_assert_eq!(LdapUrl::parse(&text), Ok(url), "{}", text);
    }

    #[test]
    fn property_any_text_is_an_answer(text in "(ldap[si]?://)?[a-z0-9:/?%!,=\\[\\]ä ]{0,30}") {
        if let Ok(url) = LdapUrl::parse(&text) {
            prop_assert_eq!(LdapUrl::parse(&url.to_string()), Ok(url));
        }
    }
}

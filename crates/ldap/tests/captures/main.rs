//! Requests as OpenLDAP's command-line tools (2.5 and later) send them, captured from the wire.

use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{
    Authentication, Control, Deref, Limits, Message, ModifyOperation, PasswordModifyRequest,
    Request, Scope, encode, frame, oid,
};

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a digit");
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::try_from(digit(pair[0]) << 4 | digit(pair[1])).unwrap())
        .collect()
}

/// Decodes, and checks that our own encoding of the same request is the same bytes.
fn with_message(hex: &str, check: impl FnOnce(&Message<'_>)) {
    let pdu = bytes(hex);
    assert_eq!(frame(&pdu, 1000), Ok(Some(pdu.len())));
    let message = Message::decode(&pdu, &Limits::default()).expect("a valid message");
    check(&message);
    let controls: Vec<Control<'_>> = message.controls.iter().collect();
    let mut again = Vec::new();
    encode::request(&mut again, message.id, &message.request, &controls);
    assert_eq!(again, pdu, "our encoding differs");
}

#[test]
fn binds() {
    with_message("300c020101600702010304008000", |message| {
        let Request::Bind(bind) = &message.request else {
            panic!()
        };
        assert_eq!((message.id, bind.version, bind.name), (1, 3, &b""[..]));
        assert_eq!(bind.authentication, Authentication::Simple(b""));
    });
    with_message(
        "302c0201016027020103041a636e3d61646d696e2c64633d6578616d706c652c64633d636f6d8006736563726574",
        |message| {
            let Request::Bind(bind) = &message.request else {
                panic!()
            };
            assert_eq!(bind.name, b"cn=admin,dc=example,dc=com");
            assert_eq!(bind.authentication, Authentication::Simple(b"secret"));
            assert!(
                !format!("{bind:?}").contains("secret"),
                "passwords stay out of logs"
            );
        },
    );
}

#[test]
fn unbind() {
    with_message("30050201034200", |message| {
        assert_eq!((message.id, &message.request), (3, &Request::Unbind))
    });
}

#[test]
fn search_with_limits_and_a_deep_filter() {
    let hex = "30818b020102638185041164633d6578616d706c652c64633d636f6d0a01020a0100020105020107010100a054a3\
               15040b6f626a656374436c6173730406706572736f6ea11da41004037569643009800161810162820163a209a507\
               0402736e040178a91c810e6361736545786163744d617463688202636e8303412a428401ff300b0402636e040273\
               6e04012b";
    with_message(&hex.replace(' ', ""), |message| {
        let Request::Search(search) = &message.request else {
            panic!()
        };
        assert_eq!(
            (search.base, search.scope, search.deref),
            (&b"dc=example,dc=com"[..], Scope::Subtree, Deref::Never)
        );
        assert_eq!(
            (search.size_limit, search.time_limit_s, search.types_only),
            (5, 7, false)
        );
        assert_eq!(search.attributes, [&b"cn"[..], b"sn", b"+"]);
        assert_eq!(
            search.filter.to_string(),
            "(&(objectClass=person)(|(uid=a*b*c)(!(sn>=x)))(cn:dn:caseExactMatch:=A\\2aB))"
        );
    });
}

#[test]
fn paged_search_with_controls() {
    let hex = "306f020102632a041164633d6578616d706c652c64633d636f6d0a01010a01030201000201000101ff87046d6169\
               6c3000a03e30190417322e31362e3834302e312e3131333733302e332e342e3230210416312e322e3834302e3131\
               333535362e312e342e333139040730050201640400";
    with_message(&hex.replace(' ', ""), |message| {
        let Request::Search(search) = &message.request else {
            panic!()
        };
        assert_eq!(
            (search.scope, search.deref, search.types_only),
            (Scope::One, Deref::Always, true)
        );
        assert!(search.attributes.is_empty());
        assert_eq!(
            message.controls.find(oid::MANAGE_DSA_IT),
            Some(Control::new(oid::MANAGE_DSA_IT, false))
        );
        let paged = message
            .controls
            .find(oid::PAGED_RESULTS)
            .expect("asked for")
            .value
            .expect("has a value");
        assert_eq!(
            PagedResults::decode(paged),
            Ok(PagedResults {
                size: 100,
                cookie: b""
            })
        );
        assert_eq!(
            PagedResults {
                size: 100,
                cookie: b""
            }
            .encode(),
            paged
        );
        assert_eq!(message.controls.duplicate(), None);
    });
}

#[test]
fn updates() {
    let modify = "306502010266600416636e3d782c64633d6578616d706c652c64633d636f6d304630170a0100301204046d61696c\
                  310a04036140620403634064300c0a0101300704036661783100300e0a010230090402636e3103040178300d0a01\
                  03300804016e3103040131";
    with_message(&modify.replace(' ', ""), |message| {
        let Request::Modify(modify) = &message.request else {
            panic!()
        };
        let operations: Vec<_> = modify
            .changes
            .iter()
            .map(|change| change.operation)
            .collect();
        use ModifyOperation::{Add, Delete, Increment, Replace};
        assert_eq!(operations, [Add, Delete, Replace, Increment]);
        assert!(
            modify.changes[0]
                .attribute
                .values
                .iter()
                .eq([&b"a@b"[..], b"c@d"])
        );
        assert!(modify.changes[1].attribute.values.is_empty());
    });
    let add = "304e02010268490416636e3d782c64633d6578616d706c652c64633d636f6d302f3017040b6f626a656374436c61737331\
               080406706572736f6e30090402636e310304017830090402736e3103040179";
    with_message(&add.replace(' ', ""), |message| {
        let Request::Add(add) = &message.request else {
            panic!()
        };
        assert_eq!(add.attributes.len(), 3);
        assert_eq!(add.attributes[0].values.first(), Some(&b"person"[..]));
    });
    with_message(
        "301b0201024a16636e3d782c64633d6578616d706c652c64633d636f6d",
        |message| {
            let Request::Delete(delete) = &message.request else {
                panic!()
            };
            assert_eq!(delete.dn, b"cn=x,dc=example,dc=com");
        },
    );
    let rename = "303e0201026c390416636e3d782c64633d6578616d706c652c64633d636f6d0404636e3d790101ff80166f753d702c\
                  64633d6578616d706c652c64633d636f6d";
    with_message(&rename.replace(' ', ""), |message| {
        let Request::ModifyDn(rename) = &message.request else {
            panic!()
        };
        assert_eq!(
            (rename.new_rdn, rename.delete_old_rdn),
            (&b"cn=y"[..], true)
        );
        assert_eq!(rename.new_superior, Some(&b"ou=p,dc=example,dc=com"[..]));
    });
}

#[test]
fn compare_and_extended() {
    with_message(
        "30260201026e210416636e3d782c64633d6578616d706c652c64633d636f6d30070402636e040178",
        |message| {
            let Request::Compare(compare) = &message.request else {
                panic!()
            };
            assert_eq!(
                (compare.assertion.attribute, compare.assertion.value),
                (&b"cn"[..], &b"x"[..])
            );
        },
    );
    with_message(
        "301e02010277198017312e332e362e312e342e312e343230332e312e31312e33",
        |message| {
            let Request::Extended(extended) = &message.request else {
                panic!()
            };
            assert_eq!(
                (extended.oid, extended.value),
                (oid::WHO_AM_I.as_bytes(), None)
            );
        },
    );
    let password = "3044020102773f8017312e332e362e312e342e312e343230332e312e31312e31812430228016636e3d782c64633d65\
                    78616d706c652c64633d636f6d81036f6c6482036e6577";
    with_message(&password.replace(' ', ""), |message| {
        let Request::Extended(extended) = &message.request else {
            panic!()
        };
        assert_eq!(extended.oid, oid::PASSWORD_MODIFY.as_bytes());
        let request = PasswordModifyRequest::decode(extended.value).expect("valid");
        assert_eq!(
            (request.old_password, request.new_password),
            (Some(&b"old"[..]), Some(&b"new"[..]))
        );
        assert_eq!(Some(request.encode().as_slice()), extended.value);
    });
}

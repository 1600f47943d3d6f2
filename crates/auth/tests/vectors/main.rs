//! Values that other programs stored: openssl passwd, libxcrypt, slappasswd 2.5 and Python's
//! hashlib.

use fulgurite_auth::{Cost, Scheme, SchemeError, cost, hash, verify};
use proptest::prelude::*;

const PASSWORD: &[u8] = b"correct horse";

/// All of [`PASSWORD`].
const STORED: &[&str] = &[
    "correct horse",
    "{CLEARTEXT}correct horse",
    "{cleartext}correct horse",
    // slappasswd
    "{SSHA}HyfjoHK05TGtgHJGFR1uPTfwW9FRBi7d",
    "{ssha}HyfjoHK05TGtgHJGFR1uPTfwW9FRBi7d",
    "{SHA}L55TUjtiq8FBorTWAZ0jy6g129A=",
    "{SHA}L55TUjtiq8FBorTWAZ0jy6g129A",
    "{MD5}PLTnMmMfR+brlh80VUt83g==",
    "{SMD5}qQKNu3mw/lpA9nizyOsNHvWyf6k=",
    "{ARGON2}$argon2i$v=19$m=4096,t=3,p=1$sAc0F/FIG6W0SHR0s5x8jA$OfAGy116AxIr1CLnBYPOHqcWegm1OM6dtu5WzIm5gz0",
    // hashlib and crypt(3), in the layouts of other servers
    "{PBKDF2_SHA256}AAALuAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj/FzyCrKdfGcaHScfhyE5IIdW+bprKpEJ5xD//v/Rj4L1KYb+VWiwyQiHiS2tssWwHlmWSzqOdMSM2O5PVOuqRlvZ2Ez+cYw2y2vCm3nnPoVj5AWYTsflZOfoYt/rqL/v9ADlzd2CIcJOiVJp8YivAEscjDR7w3yTg7p11OVPPUgt7nz7KREGxVw5RV1WGY+8gQMRt8xc+7FBSF9HDPM7XMfU8ZrAAS6JoxTqx6qo1fsWTFaz36rTLvkxa0Y6UvvgeGIwmHcLViRsu+W1/qfG9om3VUY2k84RYZ0ydXPrz/UK3Z/obf8jV9I3eQHc2TNhkkuy5a1vxFGfq6mgOODVyl",
    "{PKCS5S2}AAECAwQFBgcICQoLDA0OD/wLRC7YJrDwyPC1hivcdA1lVJ0iA8EV8Zotwnsqu+eY",
    "{SCRYPT}$s0$a0801$AAECAwQFBgcICQoLDA0ODw==$nfkj3u1fRTHCea+fVr03sWV770kp5wLOLoEakziKhqE=",
    "{SCRYPT}$scrypt$ln=10,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$nfkj3u1fRTHCea+fVr03sWV770kp5wLOLoEakziKhqE",
    "{BCRYPT}$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e",
    "{crypt}$5$rounds=1500$abcdefghijklmnop$0Z6UXWYem95iuJ58WZloE9PujjmaVA8gkk.H72RQODB",
    // hashlib
    "{SHA256}QQTTb42iwlQ0n4WDZ5Pr4CngyVcGOjTJHC6SAxh7VjE=",
    "{SSHA256}YflVcOMs6k7tbGkQbQNVn6/ehAnUAVltiLPKHBWGi2tzYWx0c2FsdA==",
    "{SHA384}ArIKby67E2Cppg9M+QhXNj7UGcAisSFWfOX5HG45Zk+3j9YCNMSli1v8cUWumDKS",
    "{SSHA384}rPNf5wu9raqOYyrDpEXtTWzU9J8yYxdna88Zv3VPM7t8wAY2Wum1UGOWoZRj523lc2FsdHNhbHQ=",
    "{SHA512}VraY3v7bWkNbY0r+MyC7rz/c2SC2xQOkRvx7endrKY1HnRumqLYXgI6wv1ec6aldZoNHvKtxSQhayTyyeZUZew==",
    "{SSHA512}50rsRNBf8j3I5xE+QwaHdFyMhOzITssZ8BB3UxwQ+SI1JKygYm6ZeRYTDuUyFZIIqDonoTuXwB0Z/MAPhgQCFHNhbHRzYWx0",
    "{PBKDF2}10000$AAECAwQFBgcICQoLDA0ODw$/AtELtgmsPDI8LWGK9x0DWVUnSI",
    "{PBKDF2-SHA1}10000$AAECAwQFBgcICQoLDA0ODw$/AtELtgmsPDI8LWGK9x0DWVUnSI",
    "{PBKDF2-SHA256}10000$AAECAwQFBgcICQoLDA0ODw$5RUHDgNTp9sBOWGYS4e6u57cz/Sq3/TQgaDP/8MW6L8",
    "{PBKDF2-SHA512}10000$AAECAwQFBgcICQoLDA0ODw$ECEiF3rHxiQNn3eIhD3/rQu7JgNUuHNkEwXr67HsHXDuCHXNSrvzIej3ijbWJ6UeJwPOircNgc2J7kJoHTU9dA",
    // openssl passwd
    "{CRYPT}$1$abcdefgh$y6iHhJNbuC0xpbk0w9pm80",
    "{CRYPT}$5$saltsalt$myjXcpMpE2Ofk7fj9hqyNYSn6lmWG4Mqnjx.KIRRr4/",
    "{crypt}$6$0123456789abcdef$lDHzA5IdO41viXIs6llkDKq4Uh2VG9JXIYJ.taq2zlNFqBnKQ0/fOUW0Zoz49ZnOpe2ACY.PoF6wosL.jL3Af0",
    // libxcrypt
    "{CRYPT}$1$a$6B22QzZd2o90NQAIVNfPu/",
    "{CRYPT}$5$rounds=1500$ab$3wKPNTqZMEkloeG7Ycn/bMxxaXTSMBiLsQyaZU27s79",
    "{CRYPT}$6$rounds=5001$abcdefghijklmnop$4D2g0nNjADAP2c0B5KhPdzp/tBl1kEz.4ZeXN9KxfDVZzsIx23NYnviEbcnQsfgF6nBzst9YcwF7oYKF0kywb0",
    "{CRYPT}$2a$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
    "{CRYPT}$2b$06$......................rpMA2TfAL137D2iU2jq2B.qFn6dPyrW",
    "{CRYPT}$2y$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e",
    "{CRYPT}$y$j9T$abcdefghijklmnop1234$gFczdv6kEdSaA9vjX3G8IdonaSNi1M5uMmUJngCjFZC",
    "{CRYPT}$y$j75$abcd$RU2Kkby1H6yvchmPV6ZobgSigPvmsUpIjba5LqR9pOB",
];

#[test]
fn hashes_of_other_servers_are_verified() {
    for stored in STORED {
        assert_eq!(verify(stored.as_bytes(), PASSWORD), Ok(true), "{stored}");
        for wrong in [
            &b"correct horsf"[..],
            b"correct hors",
            b"correct horse ",
            b"",
            b"correct horse\0x",
        ] {
            assert_eq!(
                verify(stored.as_bytes(), wrong),
                Ok(false),
                "{stored} took {wrong:?}"
            );
        }
    }
}

#[test]
fn odd_passwords_as_crypt_has_them() {
    // DES looks at eight characters.
    let des = b"{CRYPT}abhfCpXqd4GrI";
    assert_eq!(verify(des, PASSWORD), Ok(true));
    assert_eq!(verify(des, b"correct mouse"), Ok(true));
    assert_eq!(verify(des, b"correctly"), Ok(false));
    let empty = "{CRYPT}$6$ab$xnh5Qsr2NdbFw1PgdZie7nLON3gv.S.23iQDBqAzkdoXPtDnVSpludXkM5UWybQO3OI7hBj9wHg9Ow6sUWD60/";
    assert_eq!(verify(empty.as_bytes(), b""), Ok(true));
    // bcrypt looks at 72 bytes.
    let long = "{CRYPT}$2b$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i";
    assert_eq!(verify(long.as_bytes(), &[b'x'; 80]), Ok(true));
    assert_eq!(verify(long.as_bytes(), &[b'x'; 71]), Ok(false));
    let md5 = "{CRYPT}$1$abcdefgh$qbqmpT5c4yFc3.1Qef15o.";
    assert_eq!(verify(md5.as_bytes(), &[b'x'; 40]), Ok(true));
}

#[test]
fn an_unknown_scheme_gives_a_reason() {
    let error = |stored: &str| verify(stored.as_bytes(), PASSWORD).unwrap_err();
    assert_eq!(error("{NEW}x"), SchemeError::Unknown("NEW".into()));
    assert_eq!(error("{SSHA}!"), SchemeError::Malformed("SSHA"));
    assert_eq!(error("{SSHA}AAAA"), SchemeError::Malformed("SSHA"));
    assert_eq!(
        error("{SSHA}L55TUjtiq8FBorTWAZ0jy6g129A="),
        SchemeError::Malformed("SSHA"),
        "no salt"
    );
    assert_eq!(
        error("{SHA}HyfjoHK05TGtgHJGFR1uPTfwW9FRBi7d"),
        SchemeError::Malformed("SHA"),
        "a salt"
    );
    assert!(matches!(
        error("{CRYPT}$gy$x$y"),
        SchemeError::Unsupported { .. }
    ));
    assert!(matches!(
        error("{CRYPT}$7$x$y"),
        SchemeError::Unsupported { .. }
    ));
    for stored in [
        "{CRYPT}",
        "{CRYPT}$6$",
        "{CRYPT}$2b$99$x",
        "{CRYPT}$y$$$",
        "{CRYPT}x",
        "{ARGON2}x",
        "{PBKDF2}1$2",
        "{PBKDF2}0$AA$AA",
    ] {
        let error = error(stored);
        let expected = matches!(error, SchemeError::Malformed(_) | SchemeError::TooCostly(_));
        assert!(expected, "{stored}: {error}");
    }
}

#[test]
fn absurd_parameters_are_refused_at_once() {
    for stored in [
        "{CRYPT}$6$rounds=999999999$abcdefgh$lDHzA5IdO41viXIs6llkDKq4Uh2VG9JXIYJ.taq2zlNFqBnKQ0/fOUW0Zoz49ZnOpe2ACY.PoF6wosL.jL3Af0",
        "{CRYPT}$2b$31$......................rpMA2TfAL137D2iU2jq2B.qFn6dPyrW",
        "{CRYPT}$y$jGT$abcdefghijklmnop1234$gFczdv6kEdSaA9vjX3G8IdonaSNi1M5uMmUJngCjFZC",
        "{ARGON2}$argon2id$v=19$m=4194304,t=3,p=1$sAc0F/FIG6W0SHR0s5x8jA$OfAGy116AxIr1CLnBYPOHqcWegm1OM6dtu5WzIm5gz0",
        "{ARGON2}$argon2id$v=19$m=4096,t=4000000,p=1$sAc0F/FIG6W0SHR0s5x8jA$OfAGy116AxIr1CLnBYPOHqcWegm1OM6dtu5WzIm5gz0",
        "{PBKDF2}4000000000$AAECAwQFBgcICQoLDA0ODw$/AtELtgmsPDI8LWGK9x0DWVUnSI",
    ] {
        assert!(
            matches!(
                verify(stored.as_bytes(), PASSWORD),
                Err(SchemeError::TooCostly(_))
            ),
            "{stored}"
        );
    }
}

#[test]
fn new_hashes_are_salted_and_verify() {
    let schemes = [
        Scheme::Cleartext,
        Scheme::Md5,
        Scheme::Smd5,
        Scheme::Sha,
        Scheme::Ssha,
        Scheme::Sha256,
        Scheme::Ssha256,
        Scheme::Sha384,
        Scheme::Ssha384,
        Scheme::Sha512,
        Scheme::Ssha512,
        Scheme::Crypt,
        Scheme::Argon2,
    ];
    for scheme in schemes {
        let stored = hash(scheme, PASSWORD).unwrap();
        assert_eq!(verify(stored.as_bytes(), PASSWORD), Ok(true), "{stored}");
        assert_eq!(verify(stored.as_bytes(), b"wrong"), Ok(false), "{stored}");
        assert_eq!(Scheme::of(stored.as_bytes()), Ok(scheme));
        let unsalted = matches!(
            scheme,
            Scheme::Cleartext
                | Scheme::Md5
                | Scheme::Sha
                | Scheme::Sha256
                | Scheme::Sha384
                | Scheme::Sha512
        );
        assert_eq!(
            hash(scheme, PASSWORD).unwrap() == stored,
            unsalted,
            "{stored}"
        );
    }
    assert!(
        hash(Scheme::default(), PASSWORD)
            .unwrap()
            .starts_with("{ARGON2}$argon2id$v=19$")
    );
    assert!(
        hash(Scheme::Crypt, b"a\0b")
            .unwrap_err()
            .to_string()
            .contains("NUL")
    );
}

#[test]
fn clear_passwords_may_have_braces() {
    for password in ["{", "{}", "{}x", "{open", "a{b}c"] {
        assert_eq!(
            verify(password.as_bytes(), password.as_bytes()),
            Ok(true),
            "{password}"
        );
    }
    for password in ["{SSHA}x", "{braces}"] {
        let stored = hash(Scheme::Cleartext, password.as_bytes()).unwrap();
        assert_eq!(
            verify(stored.as_bytes(), password.as_bytes()),
            Ok(true),
            "{password}"
        );
    }
}

#[test]
fn slow_schemes_say_so() {
    assert_eq!(cost(b"{SSHA}x"), Cost::Cheap);
    assert_eq!(cost(b"{NEW}x"), Cost::Cheap);
    assert_eq!(cost(b"clear"), Cost::Cheap);
    for slow in ["{CRYPT}x", "{argon2}x", "{PBKDF2-SHA512}x"] {
        assert_eq!(cost(slow.as_bytes()), Cost::Slow, "{slow}");
    }
    assert_eq!(Scheme::from_name("{ssha512}"), Some(Scheme::Ssha512));
    assert_eq!(Scheme::from_name("bcrypt"), Some(Scheme::Bcrypt));
    assert_eq!(Scheme::from_name("bcrypt2"), None);
    assert_eq!(Scheme::Pbkdf2Sha1.name(), "PBKDF2-SHA1");
}

proptest! {
    #[test]
    fn mutated_values_never_panic(
        which in 0..STORED.len(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..4),
    ) {
        let mut stored = STORED[which].as_bytes().to_vec();
        for (at, byte, cut) in edits {
            let at = at.index(stored.len());
            if cut && stored.len() > 1 { stored.truncate(at.max(1)) } else { stored[at] = byte }
        }
        // Every value gives some answer. Slow checks are left out to keep the test fast.
        if cost(&stored) == Cost::Cheap || stored.len() < 30 {
            let _ = verify(&stored, PASSWORD);
        }
    }

    #[test]
    fn random_crypt_strings_never_panic(rest in "\\$(1|2b|5|6|2a|7|x)\\$[./A-Za-z0-9$,=]{0,24}") {
        let _ = verify(format!("{{CRYPT}}{rest}").as_bytes(), PASSWORD);
    }
}

/// New `{CRYPT}` passwords in every form that the salt's format can ask for.
#[test]
fn salt_formats_decide_the_form_of_crypt() {
    for (format, begins, length) in [
        ("%s", "", 13),
        ("%.2s", "", 13),
        ("$1$%.8s", "$1$", 34),
        ("$2a$04$%.22s", "$2a$04$", 60),
        ("$2y$04$%s", "$2y$04$", 60),
        ("$5$%.8s", "$5$rounds=5000$", 15 + 8 + 1 + 43),
        ("$6$%.16s", "$6$rounds=5000$", 15 + 16 + 1 + 86),
        ("$6$rounds=1000$%.8s", "$6$rounds=1000$", 15 + 8 + 1 + 86),
        ("$y$j9T$%.16s", "$y$", 0),
    ] {
        let stored = fulgurite_auth::hash_with(Scheme::Crypt, PASSWORD, Some(format)).unwrap();
        let rest = stored.strip_prefix("{CRYPT}").unwrap();
        assert!(rest.starts_with(begins), "{format}: {stored}");
        assert!(length == 0 || rest.len() == length, "{format}: {stored}");
        assert_eq!(
            verify(stored.as_bytes(), PASSWORD),
            Ok(true),
            "{format}: {stored}"
        );
        // Eight characters are all that DES looks at.
        assert_eq!(
            verify(stored.as_bytes(), b"Correct horse"),
            Ok(false),
            "{format}"
        );
        let again = fulgurite_auth::hash_with(Scheme::Crypt, PASSWORD, Some(format)).unwrap();
        assert_ne!(stored, again, "{format}: the salt is another");
    }
    for format in [
        "$6$",
        "%s%s",
        "$3$%.8s",
        "$6$rounds=1$%.8s",
        "$2a$99$%.8s",
        "plain%.2s",
        "%.xs",
    ] {
        assert!(
            fulgurite_auth::hash_with(Scheme::Crypt, PASSWORD, Some(format)).is_err(),
            "{format}"
        );
    }
}

#[test]
fn malformed_and_absurd_hashes_of_other_servers_are_refused() {
    for stored in [
        "{PBKDF2_SHA256}AAAA",
        "{PKCS5S2}AAAA",
        "{SCRYPT}AAAA",
        "{SCRYPT}$s0$a0801$AAAA",
        "{SCRYPT}$scrypt$ln=10,r=8$AAAA$AAAA",
        "{BCRYPT}$6$abcdefgh$x",
    ] {
        assert!(
            matches!(
                verify(stored.as_bytes(), PASSWORD),
                Err(SchemeError::Malformed(_))
            ),
            "{stored}"
        );
    }
    for stored in [
        "{SCRYPT}$s0$1e0801$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "{SCRYPT}$scrypt$ln=63,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
    ] {
        assert!(
            matches!(
                verify(stored.as_bytes(), PASSWORD),
                Err(SchemeError::TooCostly(_))
            ),
            "{stored}"
        );
    }
}

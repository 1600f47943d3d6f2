//! Lines as Debian's slapd reads and writes them.

use super::*;

fn parsed(line: &str) -> Result<Syncrepl, String> {
    parse::parse(&split_tokens(line).expect("tokens"))
}

const BASE: &str = "rid=1 provider=ldap://h searchbase=dc=x";

#[test]
fn a_line_is_written_back_as_slapd_writes_it() {
    for (more, written) in [
        (
            "TYPE=refreshAndPersist retry=\"60 5 300 +\" bindmethod=simple binddn=\"cn=r,dc=x\" credentials=\"se cret\"",
            "rid=001 provider=ldap://h bindmethod=simple timeout=0 network-timeout=0 binddn=\"cn=r,dc=x\" \
             credentials=\"se cret\" keepalive=0:0:0 tcp-user-timeout=0 starttls=no filter=\"(objectclass=*)\" \
             searchbase=\"dc=x\" scope=sub schemachecking=off type=refreshAndPersist retry=\"60 5 300 +\"",
        ),
        (
            "interval=1h30m scope=subord exattrs=\"cn, sn\"",
            "rid=001 provider=ldap://h bindmethod=simple timeout=0 network-timeout=0 keepalive=0:0:0 \
             tcp-user-timeout=0 starttls=no filter=\"(objectclass=*)\" searchbase=\"dc=x\" scope=subordinate \
             exattrs=cn,sn schemachecking=off type=refreshOnly interval=00:01:30:00 retry=undefined",
        ),
    ] {
        let settings = parsed(&format!("{BASE} {more}")).expect("a sound line");
        assert_eq!(write::write(&settings), written);
        assert_eq!(parse::parse(&split_value(written)), Ok(settings));
    }
}

#[test]
fn wrong_words_get_the_sentences_of_slapd() {
    for (more, error) in [
        (
            "type=foo",
            "Error: parse_syncrepl_line: unknown sync type \"foo\".",
        ),
        (
            "rid=1000",
            "Error: parse_syncrepl_line: syncrepl id 1000 is out of range [0..999].",
        ),
        (
            "rid=x",
            "Error: parse_syncrepl_line: unable to parse syncrepl id \"x\".",
        ),
        ("provider=http://h", "<syncrepl> invalid URL http://h"),
        (
            "interval=x",
            "Error: parse_syncrepl_line: invalid interval \"x\".",
        ),
        (
            "interval=1:2",
            "Error: parse_syncrepl_line: invalid interval \"1:2\", unable to parse hours.",
        ),
        (
            "interval=1:00:00:x",
            "Error: parse_syncrepl_line: invalid interval \"1:00:00:x\", unable to parse seconds.",
        ),
        ("retry=60", "Error: incomplete syncrepl retry list."),
        ("retry=\"x 5\"", "Error: invalid retry interval \"x\" (#0)."),
        (
            "retry=\"60 0\"",
            "Error: invalid initial retry number \"0\" (#0).",
        ),
        (
            "scope=foo",
            "Error: parse_syncrepl_line: unknown scope \"foo\".",
        ),
        ("sizelimit=-1", "invalid size limit value \"-1\"."),
        ("timelimit=x", "invalid time limit value \"x\"."),
        (
            "bindmethod=foo",
            "Error: parse_syncrepl_line: unable to parse \"bindmethod=foo\"",
        ),
        (
            "keepalive=1:2",
            "Error: parse_syncrepl_line: unable to parse \"keepalive=1:2\"",
        ),
        (
            "tls_crlcheck=foo",
            "Error: parse_syncrepl_line: unable to parse \"tls_crlcheck=foo\"",
        ),
        ("manageDSAit=2", "invalid manageDSAit value \"2\"."),
        (
            "junk",
            "Error: parse_syncrepl_line: unable to parse \"junk\"",
        ),
        ("syncdata=changelog", "changelog schema problem (17)"),
        (
            "syncdata=accesslog",
            "syncrepl: syncdata=accesslog needs a logbase",
        ),
    ] {
        assert_eq!(
            parsed(&format!("{BASE} {more}")),
            Err(error.to_owned()),
            "{more}"
        );
    }
    let missing = "Error: Malformed \"syncrepl\" line in slapd config file, missing";
    assert_eq!(
        parsed("rid=1"),
        Err(format!("{missing} provider searchbase."))
    );
    assert_eq!(
        parsed("provider=ldap://h searchbase=dc=x"),
        Err(format!("{missing} rid."))
    );
}

#[test]
fn a_password_is_in_no_form_for_display() {
    let settings = parsed(&format!("{BASE} credentials=sesame")).expect("a sound line");
    assert!(!format!("{settings:?}").contains("sesame"));
}

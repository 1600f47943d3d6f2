//! LDIF as people and tools write it, and the errors that the reader reports.

use fulgurite_ldif::{Action, ModificationKind, Reader, ReaderOptions, Record};

/// Returns a record in words, for comparison.
fn words(record: &Record<'_>) -> Vec<String> {
    let mut out = vec![format!("{} {}", record.line(), record.dn())];
    for control in record.controls() {
        let value = control
            .value
            .map(|value| String::from_utf8_lossy(value).into_owned());
        out.push(format!(
            "control {} {} {value:?}",
            control.oid, control.critical
        ));
    }
    let value = |one: fulgurite_ldif::Attribute<'_>| {
        format!(
            "{} {}={}",
            one.line,
            one.description,
            String::from_utf8_lossy(one.value)
        )
    };
    match record.action() {
        Action::Content(attributes) => out.extend(attributes.map(value)),
        Action::Add(attributes) => {
            out.push("add".into());
            out.extend(attributes.map(value));
        }
        Action::Delete => out.push("delete".into()),
        Action::Modify(modifications) => {
            for part in modifications {
                out.push(format!(
                    "{} {:?} {}",
                    part.line, part.kind, part.description
                ));
                out.extend(part.values.map(value));
            }
        }
        Action::ModifyDn {
            new_rdn,
            delete_old_rdn,
            new_superior,
        } => out.push(format!(
            "rename {} {delete_old_rdn} {:?}",
            String::from_utf8_lossy(new_rdn),
            new_superior.map(|dn| String::from_utf8_lossy(dn).into_owned())
        )),
    }
    out
}

fn read_all(text: &[u8]) -> Vec<Result<Vec<String>, String>> {
    let options = ReaderOptions {
        file: Some("x.ldif".into()),
        ..ReaderOptions::default()
    };
    let mut reader = Reader::with_options(text, options);
    let mut all = Vec::new();
    loop {
        match reader.next_record() {
            Ok(Some(record)) => all.push(Ok(words(&record))),
            Ok(None) => break,
            Err(error) => all.push(Err(error.to_string())),
        }
    }
    assert_eq!(reader.bytes_read(), text.len() as u64);
    all
}

fn one(text: &str) -> Vec<String> {
    let mut all = read_all(text.as_bytes());
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0).unwrap()
}

fn mistake(text: &str) -> String {
    let mut all = read_all(text.as_bytes());
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0).unwrap_err()
}

#[test]
fn content_with_everything() {
    let text = "# a comment\n  that goes on\n\nversion: 1\n\n# another\ndn: cn=a,\n dc=b\ncn:a\nsn:   b\n\
                # inside\n description: of the comment\ncn;lang-de:: w6Q=\ndescription: one\n  two\n three\nempty:\n\n\n\
                dn:: Y249YixkYz1i\ncn: b";
    let all = read_all(text.as_bytes());
    assert_eq!(
        all[0].as_ref().unwrap()[..],
        [
            "7 cn=a,dc=b",
            "9 cn=a",
            "10 sn=b",
            "13 cn;lang-de=ä",
            "14 description=one twothree",
            "17 empty="
        ]
    );
    assert_eq!(all[1].as_ref().unwrap()[..], ["20 cn=b,dc=b", "21 cn=b"]);
    assert_eq!(all.len(), 2);
}

#[test]
fn line_ends_of_both_kinds() {
    let unix = "version: 1\ndn: dc=b\ndc: b\no: x\n  y\n\ndn: dc=c\ndc: c\n";
    assert_eq!(
        read_all(unix.as_bytes()),
        read_all(unix.replace('\n', "\r\n").as_bytes())
    );
}

#[test]
fn a_folded_line_may_be_cut_anywhere() {
    let text = "dn: dc=b\ndescription:: aGVsbG8gd29ybGQ=\n";
    for cut in 10..text.len() - 1 {
        let (head, tail) = text.split_at(cut);
        let folded = format!("{head}\n {tail}");
        assert_eq!(one(&folded)[1], "2 description=hello world", "cut at {cut}");
    }
}

#[test]
fn changes() {
    let text = "dn: dc=b\ncontrol: 1.2.3 true: x\ncontrol: 1.2.4\ncontrol: 1.2.5:: eA==\ncontrol: 1.2.6 false\n\
                changetype: modify\nadd: cn\ncn: a\ncn: b\n-\ndelete: sn\n-\nreplace: l\nL: x\n-\nincrement: n\nn: 1\n";
    let wanted = [
        "1 dc=b",
        "control 1.2.3 true Some(\"x\")",
        "control 1.2.4 false None",
        "control 1.2.5 false Some(\"x\")",
        "control 1.2.6 false None",
        "7 Add cn",
        "8 cn=a",
        "9 cn=b",
        "11 Delete sn",
        "13 Replace l",
        "14 L=x",
        "16 Increment n",
        "17 n=1",
    ];
    assert_eq!(one(text)[..], wanted);
    assert_eq!(one("dn: dc=b\nchangetype: delete\n"), ["1 dc=b", "delete"]);
    assert_eq!(
        one("dn: dc=b\nchangetype: add\ndc: b\n"),
        ["1 dc=b", "add", "3 dc=b"]
    );
    let rename = "dn: dc=b\nchangetype: modrdn\nnewrdn: dc=c\ndeleteoldrdn: 1\n";
    assert_eq!(one(rename)[1], "rename dc=c true None");
    let moved = format!(
        "{}newsuperior: dc=d\n",
        rename.replace(": 1", ": 0").replace("modrdn", "moddn")
    );
    assert_eq!(one(&moved)[1], "rename dc=c false Some(\"dc=d\")");
}

#[test]
fn modification_kinds_are_distinguished() {
    let mut reader = Reader::new(&b"dn: dc=b\nchangetype: modify\nReplace: l\n-\n"[..]);
    let record = reader.next_record().unwrap().unwrap();
    let Action::Modify(mut parts) = record.action() else {
        panic!("a modification")
    };
    let part = parts.next().unwrap();
    assert_eq!(
        (part.kind, part.values.len()),
        (ModificationKind::Replace, 0)
    );
    assert!(parts.next().is_none());
}

#[test]
fn mistakes_name_file_line_and_cure() {
    for (text, wanted) in [
        (
            "dn: dc=b\ndc b\n",
            "line 2: a line of the form \"name: value\" is wanted; this one has no colon",
        ),
        (
            "dn: dc=b\nd c: b\n",
            "line 2: \"d c\" is no attribute description",
        ),
        (
            "cn: b\n",
            "line 1: a record begins with \"dn:\", this one with \"cn:\"",
        ),
        (
            "dn: dc=b\ndc: b\ndn: dc=c\n",
            "line 3: \"dn:\" is inside a record; is the empty line before it missing?",
        ),
        (
            "dn:: /w==\ndc: b\n",
            "line 1: the name after \"dn:\" is not UTF-8",
        ),
        (
            "\ndn: dc=b\ndc:: *\n",
            "line 3: the text after \"::\" is not base64",
        ),
        (
            "\n dn: dc=b\n",
            "line 2: a line that begins with a space continues the one before it, and there is none",
        ),
        (
            "version: 2\n",
            "line 1: LDIF version \"2\" is not known; there is version 1",
        ),
        (
            "dn: dc=b\ndc:< file:///etc/passwd\n",
            "line 2: values from files (\":<\") are not allowed here",
        ),
        (
            "dn: dc=b\nchangetype: change\n",
            "line 2: \"change\" is no changetype; there are add, delete, modify, modrdn and moddn",
        ),
        (
            "dn: dc=b\ncontrol: x\nchangetype: delete\n",
            "line 2: a control has the form",
        ),
        (
            "dn: dc=b\ncontrol: 1.2 maybe\nchangetype: delete\n",
            "line 2: a control has the form",
        ),
        (
            "dn: dc=b\ncontrol: 1.2\ndc: b\n",
            "line 2: a control needs a",
        ),
        (
            "dn: dc=b\nchangetype: delete\ndc: b\n",
            "line 3: a deletion has no further lines",
        ),
        (
            "dn: dc=b\nchangetype: modify\nremove: l\n",
            "line 3: \"add:\", \"delete:\", \"replace:\" or \"increment:\"",
        ),
        (
            "dn: dc=b\nchangetype: modify\nadd: l\ncn: x\n",
            "line 4: within the modification of l a value of cn is out of place; is the line \"-\" missing?",
        ),
        (
            "dn: dc=b\nchangetype: modrdn\nnewrdn: dc=c\n",
            "line 1: the rename lacks its line \"deleteoldrdn:\"",
        ),
        (
            "dn: dc=b\nchangetype: modrdn\ndeleteoldrdn: 2\n",
            "line 3: \"deleteoldrdn:\" is followed by 0 or 1",
        ),
        (
            "dn: dc=b\nchangetype: modrdn\nl: x\n",
            "line 3: a rename has the lines",
        ),
        ("dn: dc=b\n", "line 1: the entry has no attributes"),
    ] {
        let error = mistake(text);
        assert!(
            error.starts_with(&format!("x.ldif, {wanted}")),
            "{text:?} gave {error}"
        );
    }
}

#[test]
fn reading_goes_on_after_a_wrong_record() {
    let all = read_all(b"dn: dc=a\ndc a\n\ndn: dc=b\ndc: b\n\n dc\n\ndn: dc=c\ndc: c\n");
    let good: Vec<bool> = all.iter().map(Result::is_ok).collect();
    assert_eq!(good, [false, true, false, true]);
}

#[test]
fn memory_is_bounded_by_the_option() {
    let long = "x".repeat(10_000);
    let text = format!(
        "dn: dc=a\ndc: {long}\n\n# {long}\ndn: dc=b\ndc: b\n\ndn: dc=c\nl: {}\n",
        "y\n ".repeat(900)
    );
    let options = ReaderOptions {
        record_bytes_max: 800,
        ..ReaderOptions::default()
    };
    let mut reader = Reader::with_options(text.as_bytes(), options);
    let error = reader.next_record().unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: the record is longer than 800 bytes, the most that is allowed"
    );
    assert_eq!(reader.next_record().unwrap().unwrap().dn(), "dc=b");
    assert!(
        reader
            .next_record()
            .unwrap_err()
            .to_string()
            .contains("longer than 800")
    );
    assert!(reader.next_record().unwrap().is_none());
}

#[test]
fn values_from_files_where_allowed() {
    let text = format!(
        "dn: dc=b\ndescription:< file://{}/Cargo.toml\nl: x\n",
        env!("CARGO_MANIFEST_DIR")
    );
    let options = ReaderOptions {
        file_urls: true,
        ..ReaderOptions::default()
    };
    let mut reader = Reader::with_options(text.as_bytes(), options);
    let record = reader.next_record().unwrap().unwrap();
    let Action::Content(mut attributes) = record.action() else {
        panic!("an entry")
    };
    assert!(attributes.next().unwrap().value.starts_with(b"[package]"));
    assert_eq!(attributes.next().unwrap().value, b"x");
}

#[test]
fn small_buffers_make_no_difference() {
    let text = b"version: 1\r\ndn: dc=b\r\ndescription: one\r\n  two\r\n\r\n# c\r\n c\r\ndn: dc=c\r\ndc:: Yw==\r\n";
    for capacity in 1..20 {
        let mut reader = Reader::new(std::io::BufReader::with_capacity(capacity, &text[..]));
        let first = words(&reader.next_record().unwrap().unwrap());
        assert_eq!(first, ["2 dc=b", "3 description=one two"]);
        assert_eq!(
            words(&reader.next_record().unwrap().unwrap()),
            ["8 dc=c", "9 dc=c"]
        );
        assert!(reader.next_record().unwrap().is_none());
    }
}

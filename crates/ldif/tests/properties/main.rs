//! Properties of all records: a written record reads back the same, and no input makes the reader
//! panic.

use fulgurite_ldif::{Action, Reader, Writer, WriterOptions};
use proptest::collection::vec;
use proptest::prelude::*;

type Entry = (String, Vec<(String, Vec<u8>)>);

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[ -~]{0,200}".prop_map(String::into_bytes),
        "[ :<]?[a-zäöü€ ]{0,40}[ ]?".prop_map(String::into_bytes),
        vec(any::<u8>(), 0..300),
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    let description = "[a-zA-Z][a-zA-Z0-9-]{0,20}(;[a-z-]{1,8})?".prop_filter(
        "words with a meaning of their own",
        |name| {
            !["dn", "control", "changetype", "version"]
                .contains(&name.to_ascii_lowercase().as_str())
        },
    );
    (
        "[a-z]{1,3}=[^\u{0}]{0,120}",
        vec((description, value()), 1..12),
    )
}

fn options() -> impl Strategy<Value = WriterOptions> {
    (proptest::option::of(1usize..100), any::<bool>()).prop_map(|(columns, utf8_in_clear)| {
        WriterOptions {
            columns,
            utf8_in_clear,
        }
    })
}

fn write(entries: &[Entry], options: WriterOptions) -> Vec<u8> {
    let mut writer = Writer::with_options(Vec::new(), options);
    for (dn, values) in entries {
        writer.name(dn).unwrap();
        for (description, value) in values {
            writer.value(description, value).unwrap();
        }
        writer.end().unwrap();
    }
    writer.into_inner().unwrap()
}

fn read(text: &[u8]) -> Vec<Entry> {
    let mut reader = Reader::new(text);
    let mut entries = Vec::new();
    while let Some(record) = reader.next_record().expect("what was written can be read") {
        let Action::Content(attributes) = record.action() else {
            panic!("a content record")
        };
        let values = attributes
            .map(|one| (one.description.to_owned(), one.value.to_vec()))
            .collect();
        entries.push((record.dn().to_owned(), values));
    }
    entries
}

/// Reads to the end whatever comes, touching every part.
fn exhaust(text: &[u8]) {
    let mut reader = Reader::new(text);
    let mut errors = 0;
    loop {
        match reader.next_record() {
            Ok(None) => break,
            Ok(Some(record)) => {
                let controls: usize = record.controls().map(|one| one.oid.len()).sum();
                let size: usize = match record.action() {
                    Action::Content(all) | Action::Add(all) => all.map(|one| one.value.len()).sum(),
                    Action::Modify(parts) => parts
                        .map(|part| part.values.map(|one| one.value.len()).sum::<usize>())
                        .sum(),
                    Action::Delete => 0,
                    Action::ModifyDn { new_rdn, .. } => new_rdn.len(),
                };
                assert!(controls + size <= text.len());
            }
            Err(error) => {
                errors += 1;
                assert!(error.is_recoverable() && error.line as usize <= text.len() + 1);
                assert!(!error.to_string().contains('\n') || text.contains(&b'\n'));
            }
        }
    }
    assert!(errors <= text.len());
}

const CHANGES: &str = "version: 1\n# c\n c\ndn: dc=b\ncontrol: 1.2.3 true: x\nchangetype: modify\nadd: cn\ncn: a\n-\n\
    replace: l\nl:: eA==\n-\n\ndn:: ZGM9Yg==\nchangetype: modrdn\nnewrdn: dc=c\ndeleteoldrdn: 1\nnewsuperior: dc=d\n\n\
    dn: dc=e\nchangetype: delete\n\ndn: dc=f\r\nchangetype: add\r\ndc: f\r\n  g\r\nx:< file:///nowhere\r\n";

proptest! {
    #[test]
    fn round_trip(entries in vec(entry(), 0..6), options in options()) {
        let text = write(&entries, options);
        prop_assert_eq!(read(&text), entries);
        if !options.utf8_in_clear {
            prop_assert!(text.is_ascii());
        }
    }

    #[test]
    fn mutated_text_never_panics(
        edits in vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), prop::sample::select(&b" \n\r:<#-=,1d"[..])], 0..3), 1..12)
    ) {
        let mut text = CHANGES.as_bytes().to_vec();
        for (at, byte, kind) in edits {
            let at = at.index(text.len());
            match kind {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => { text.remove(at); }
            }
        }
        exhaust(&text);
    }

    #[test]
    fn random_bytes_never_panic(text in vec(any::<u8>(), 0..400)) {
        exhaust(&text);
    }
}

//! Dumps, as `mdb_load` reads them.

use fulgurite::check::check_file;

use super::files::in_scratch;

/// Any text as a dump: loaded or refused, and what was loaded is a sound file.
pub fn dump_text(bytes: &[u8]) {
    // Maps of any size, at any address, are not what this is about.
    if [&b"mapsize="[..], b"mapaddr=", b"maxreaders="]
        .iter()
        .any(|word| bytes.windows(word.len()).any(|window| window == *word))
    {
        return;
    }
    for plain_text in [false, true] {
        in_scratch(|path| {
            let _ = fulgurite_lmdb_tools::load_text(bytes.to_vec(), path, plain_text);
            let data = path.join("data.mdb");
            if data.exists() {
                let report = check_file(&data).expect("a file of our own");
                assert!(report.is_sound(), "{report}");
            }
        });
    }
}

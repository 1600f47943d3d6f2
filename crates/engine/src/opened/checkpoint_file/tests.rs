//! The description of a checkpoint: read back, and torn.

use fulgurite_format::Txnid;

use super::*;
use crate::opened::OpenOptions;
use crate::opened::files::new_meta;

fn description(txnid: u64) -> Description {
    let mut meta = new_meta(&OpenOptions::default());
    meta.txnid = Txnid(txnid);
    Description {
        boot: b"a boot id".to_vec(),
        checkpoint: Some(Checkpoint {
            meta,
            fingerprint: 7 * txnid,
        }),
    }
}

#[test]
fn a_description_is_read_back() {
    let closed = Description {
        boot: vec![9; BOOT_MAX],
        checkpoint: None,
    };
    for written in [description(9), closed, Description::default()] {
        let slot = encode(5, &written);
        assert_eq!(decode(&slot), Some((5, written)));
        for at in 0..slot.len() {
            let mut torn = slot.clone();
            torn[at] ^= 0x10;
            assert_eq!(decode(&torn), None, "byte {at}");
        }
        assert_eq!(decode(&slot[..slot.len() - 1]), None);
    }
}

#[test]
fn a_torn_write_leaves_the_description_before() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint.mdb");
    let open = || CheckpointFile::open(&path, Access::Read, None);
    assert!(open().unwrap().is_none());
    let (mut file, _) = CheckpointFile::create(&path, 0o600, None).unwrap();
    assert_eq!(open().unwrap().unwrap().1, Description::default());
    for txnid in 1..6 {
        file.write(&description(txnid)).unwrap();
        let (read, found) = open().unwrap().unwrap();
        assert_eq!((read.sequence, found), (txnid + 1, description(txnid)));
        let whole = std::fs::read(&path).unwrap();
        let mut torn = whole.clone();
        torn[(read.sequence % 2) as usize * SLOT_LEN + META_AT + 40] ^= 1;
        std::fs::write(&path, &torn).unwrap();
        let before = open().unwrap().unwrap().1;
        let wanted = match txnid {
            1 => Description::default(),
            _ => description(txnid - 1),
        };
        assert_eq!(before, wanted);
        std::fs::write(&path, &whole).unwrap();
    }
    std::fs::write(&path, [1; SLOT_LEN]).unwrap();
    assert_eq!(open().unwrap_err().kind(), io::ErrorKind::InvalidData);
}

#[test]
fn a_file_that_was_never_finished_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint.mdb");
    for len in [0, 100, SLOT_LEN, SLOT_LEN + 40] {
        std::fs::write(&path, vec![0; len]).unwrap();
        let open = CheckpointFile::open(&path, Access::Read, None);
        assert!(open.unwrap().is_none(), "{len}");
    }
}

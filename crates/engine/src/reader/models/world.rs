//! An environment in memory, small enough to be tried in all orders.
//!
//! A snapshot is one page, whose content is the id of its transaction. Every commit writes a new
//! page, a reusable one or a fresh one, and frees that of the snapshot before.

use std::convert::Infallible;
use std::sync::atomic::Ordering;

use fulgurite_format::{META_PAGES, Txnid, lockfile};
use fulgurite_os::{Word, load_words, store_words};
use loom::cell::UnsafeCell;
use loom::sync::atomic::fence;
use loom::sync::{Mutex, MutexGuard};

use super::machine::{Word32, Word64, word32, word64};
use super::weakness::Weakness;
use super::{Ownership, Slot, SlotOwner, SlotTable, may_be_reused};

/// The last commit when a model begins.
pub(super) const FIRST: u64 = 3;
const PAGES: usize = 8;
/// More commits no model makes.
const COMMITS_MAX: u64 = 4;

/// How a commit writes its meta page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetaWrite {
    /// Word by word, the id last.
    Map,
    /// The system copies it into the file: in whatever order, but not before what the program did
    /// earlier.
    File,
}

#[derive(Debug)]
struct SlotWords {
    txnid: Word64,
    pid: Word32,
    thread: Word64,
}

/// Where a writer's process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Death {
    BeforeMeta,
    /// In a writable map: some words of the meta page are new, the id is not.
    WithinMeta,
    BeforePublication,
}

/// Data that only the writer uses.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    /// The page of the last snapshot.
    root: u64,
    /// The transaction that freed each page.
    free: Vec<(Txnid, u64)>,
    fresh: u64,
    /// The meta page in which a writer died.
    torn: Option<u64>,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) weakness: Weakness,
    meta_write: MetaWrite,
    last: Word64,
    used: Word32,
    slots: Vec<SlotWords>,
    owned: Vec<Ownership<Word64>>,
    /// The meta pages: root, id.
    metas: [[Word64; 2]; 2],
    pages: Vec<UnsafeCell<u64>>,
    pub(super) reader_mutex: Mutex<()>,
    writer_mutex: Mutex<Writer>,
}

impl World {
    /// A world with room for that many slots, none of which is used. Three transactions were
    /// committed, in pages 0 to 2.
    pub(super) fn new(slots: usize, weakness: Weakness, meta_write: MetaWrite) -> World {
        let weak = |mut word: Word64, among: &[Weakness]| {
            word.is_weak = among.contains(&weakness);
            word
        };
        let slot = || SlotWords {
            // Left there by the file's earlier life.
            txnid: weak(word64(1), &[Weakness::SlotStoreRelaxed]),
            pid: word32(99),
            thread: word64(0),
        };
        let owned = || Ownership::new(weak(word64(0), &[Weakness::OwnershipWithoutExchange]));
        World {
            weakness,
            meta_write,
            last: word64(FIRST),
            used: word32(0),
            slots: (0..slots).map(|_| slot()).collect(),
            owned: (0..slots).map(|_| owned()).collect(),
            metas: [[word64(1), word64(2)], [word64(2), word64(3)]],
            pages: (0..PAGES as u64)
                .map(|page| UnsafeCell::new(if page < FIRST { page + 1 } else { 0 }))
                .collect(),
            reader_mutex: Mutex::new(()),
            writer_mutex: Mutex::new(Writer {
                root: 2,
                free: vec![(Txnid(2), 0), (Txnid(3), 1)],
                fresh: FIRST,
                torn: None,
            }),
        }
    }

    /// Enters the calling thread into a slot, as the engine does it.
    pub(super) fn enter(&self, pid: u32, holder: SlotOwner) -> Slot {
        let _held = self.hold_reader_mutex(Weakness::NoReaderMutex);
        self.enter_locked(pid, holder)
    }

    pub(super) fn hold_reader_mutex(&self, unless: Weakness) -> Option<MutexGuard<'_, ()>> {
        (self.weakness != unless).then(|| self.reader_mutex.lock().expect("no holder panics"))
    }

    pub(super) fn enter_locked(&self, pid: u32, holder: SlotOwner) -> Slot {
        if self.weakness == Weakness::EnteredTooSoon {
            let index = self.used_slots();
            self.used_slots_word().store(index + 1, Ordering::SeqCst);
            self.set_slot_pid(index, pid);
            self.txnid_word(index)
                .store(lockfile::IDLE, Ordering::SeqCst);
            return Slot(index);
        }
        let slot = self.enter_free_slot(pid, holder).expect("there is room");
        if self.weakness == Weakness::EnteredTooLate {
            self.set_slot_pid(slot.0, 0);
        }
        slot
    }

    /// Runs a read transaction in a slot: pins the newest snapshot, finds its page and reads it.
    /// Returns its id.
    pub(super) fn read(&self, slot: Slot) -> u64 {
        let (id, root) = self.begin_read(slot);
        if self.weakness == Weakness::EnteredTooLate {
            self.set_slot_pid(slot.0, 1);
        }
        self.read_page(root, id);
        self.end_read(slot);
        id
    }

    /// Pins the newest snapshot and finds its page.
    pub(super) fn begin_read(&self, slot: Slot) -> (u64, u64) {
        // Each further attempt is owed to a commit that was published meanwhile.
        for _ in 0..COMMITS_MAX + 1 {
            let id = self.pin_weakly(slot);
            if let Some(root) = self.root_of(id) {
                return (id.0, root);
            }
        }
        panic!("no meta page could be caught");
    }

    /// Runs a read transaction that begins again with snapshot `id`, whose page is at `root`. It
    /// reads no meta page if that snapshot is still the newest.
    pub(super) fn read_again(&self, slot: Slot, id: u64, root: u64) {
        if self.pin_weakly(slot).0 == id {
            self.read_page(root, id);
        }
        self.end_read(slot);
    }

    pub(super) fn end_read(&self, slot: Slot) {
        if self.weakness == Weakness::UnpinRelaxed {
            self.txnid_word(slot.0)
                .store(lockfile::IDLE, Ordering::Relaxed);
        } else {
            self.unpin(slot);
        }
    }

    /// Pins the snapshot before the newest, and reads it.
    pub(super) fn read_previous(&self, slot: Slot) {
        let held = (self.weakness != Weakness::PreviousBesideWriter).then(|| self.write_lock());
        let read = |page| {
            let [root, id] = self.meta(page);
            Ok::<_, Infallible>((Txnid(id), (id, root)))
        };
        let Ok((_, (id, root))) = self.pin_previous(slot, read);
        drop(held);
        self.read_page(root, id);
        self.end_read(slot);
    }

    fn pin_weakly(&self, slot: Slot) -> Txnid {
        if matches!(
            self.weakness,
            Weakness::NoSecondLook | Weakness::NoLookAtAll
        ) {
            let id = self.last_txnid();
            self.pin_at(slot, id);
            return id;
        }
        self.pin(slot)
    }

    /// The page of snapshot `id`, if its meta page could be read.
    pub(super) fn root_of(&self, id: Txnid) -> Option<u64> {
        let read = || {
            let [root, found] = self.meta(id.0 % META_PAGES);
            Ok::<_, Infallible>((found == id.0).then_some(root))
        };
        let found = match self.weakness {
            Weakness::Unsettled | Weakness::NoLookAtAll => read(),
            _ => self.read_settled(id, read),
        };
        match found {
            Ok(root) => root,
        }
    }

    fn meta(&self, pgno: u64) -> [u64; 2] {
        let mut bytes = [0; 16];
        load_words(self.metas[pgno as usize].iter(), &mut bytes);
        let (words, _) = bytes.as_chunks();
        [u64::from_ne_bytes(words[0]), u64::from_ne_bytes(words[1])]
    }

    fn read_page(&self, root: u64, id: u64) {
        // The checker reports a read during an unsynchronised write.
        let content = self.pages[root as usize].with(|page| {
            // SAFETY: the model is to prove that no thread writes a page of a pinned snapshot.
            unsafe { *page }
        });
        assert_eq!(content, id, "a page changed under its reader");
    }

    pub(super) fn write_lock(&self) -> MutexGuard<'_, Writer> {
        self.writer_mutex.lock().expect("no holder panics")
    }

    /// A whole write transaction.
    pub(super) fn commit(&self) {
        let mut held = (self.weakness != Weakness::NoWriterMutex).then(|| self.write_lock());
        let base = self.last_txnid();
        let writer = match &mut held {
            Some(writer) => &mut **writer,
            None => &mut self.write_lock().clone(),
        };
        let id = self.commit_unpublished(writer, base);
        if self.weakness == Weakness::PublishedTooLate {
            drop(held);
        }
        self.publish(id);
    }

    /// A write transaction whose process dies in the middle.
    pub(super) fn die(&self, death: Death) {
        let mut writer = self.write_lock();
        let before = writer.clone();
        let id = Txnid(self.last_txnid().0 + 1);
        let root = self.write_page(&mut writer, id);
        match death {
            Death::BeforeMeta => *writer = before,
            Death::WithinMeta => {
                let words = &self.metas[(id.0 % META_PAGES) as usize];
                store_words(words.iter().take(1), &[root]);
                *writer = before;
                writer.torn = Some(id.0 % META_PAGES);
            }
            Death::BeforePublication => self.write_meta(id, root),
        }
    }

    /// Does the work of the writer after one that died, as `WriterLock::take` does.
    pub(super) fn commit_after_a_death(&self) {
        let mut writer = self.write_lock();
        let newest = self.newest_meta();
        if self.weakness != Weakness::SilentSuccessor {
            self.store_last_txnid(newest);
        }
        let id = self.commit_unpublished(&mut writer, newest);
        self.publish(id);
    }

    fn publish(&self, id: Txnid) {
        if matches!(
            self.weakness,
            Weakness::PlainPublication | Weakness::PlainPublicationAndScan
        ) {
            self.last_txnid_word().store(id.0, Ordering::Release);
        } else if self.weakness != Weakness::PublishedTooSoon {
            self.store_last_txnid(id);
        }
    }

    /// A write transaction on snapshot `base`, up to its meta page.
    fn commit_unpublished(&self, writer: &mut Writer, base: Txnid) -> Txnid {
        let id = Txnid(base.0 + 1);
        let root = self.write_page(writer, id);
        if self.weakness == Weakness::PublishedTooSoon {
            self.store_last_txnid(id);
        }
        self.write_meta(id, root);
        id
    }

    /// Writes the page of snapshot `id`; returns its number.
    fn write_page(&self, writer: &mut Writer, id: Txnid) -> u64 {
        let root = self.take_page(writer, Txnid(id.0 - 1));
        self.pages[root as usize].with_mut(|page| {
            // SAFETY: the model is to prove that a page taken for writing is in no pinned snapshot.
            unsafe { *page = id.0 }
        });
        writer.free.push((id, writer.root));
        writer.root = root;
        root
    }

    fn take_page(&self, writer: &mut Writer, base: Txnid) -> u64 {
        let oldest = self.oldest_reader(base);
        assert!(
            oldest.0 + 1 >= FIRST,
            "held back for a snapshot that nobody has"
        );
        let reusable = |freed_by: Txnid| match self.weakness {
            Weakness::ReuseOffByOne => may_be_reused(freed_by, Txnid(oldest.0 + 1)),
            Weakness::ReuseOffByTwo => may_be_reused(freed_by, Txnid(oldest.0 + 2)),
            _ => may_be_reused(freed_by, oldest),
        };
        // The newest that may be reused, which is the most daring.
        let found = writer.free.iter().rposition(|&(by, _)| reusable(by));
        let page = match found {
            Some(index) => writer.free.remove(index).1,
            None => {
                writer.fresh += 1;
                writer.fresh - 1
            }
        };
        for (meta, pgno) in self.metas.iter().zip(0..) {
            if writer.torn == Some(pgno) {
                continue;
            }
            let root = meta[0].load(Ordering::Relaxed);
            assert_ne!(root, page, "a crash now would lead back to this page");
        }
        page
    }

    fn write_meta(&self, id: Txnid, root: u64) {
        let words = &self.metas[(id.0 % META_PAGES) as usize];
        match self.meta_write {
            MetaWrite::Map => store_words(words.iter(), &[root, id.0]),
            MetaWrite::File => {
                fence(Ordering::SeqCst);
                words[1].store(id.0, Ordering::Relaxed);
                words[0].store(root, Ordering::Relaxed);
                fence(Ordering::SeqCst);
            }
        }
    }

    /// The newer of the two meta pages; for the writer.
    fn newest_meta(&self) -> Txnid {
        Txnid(self.meta(0)[1].max(self.meta(1)[1]))
    }
}

impl SlotTable for World {
    type Word32 = Word32;
    type Word64 = Word64;

    fn slots(&self) -> u32 {
        self.slots.len() as u32
    }

    fn last_txnid_word(&self) -> &Word64 {
        &self.last
    }

    fn used_slots_word(&self) -> &Word32 {
        &self.used
    }

    fn txnid_word(&self, index: u32) -> &Word64 {
        &self.slots[index as usize].txnid
    }

    fn pid_word(&self, index: u32) -> &Word32 {
        &self.slots[index as usize].pid
    }

    fn thread_word(&self, index: u32) -> &Word64 {
        &self.slots[index as usize].thread
    }

    fn forget_notes(&self, _index: u32) {}

    fn owned(&self, index: u32) -> Option<&Ownership<Word64>> {
        self.owned.get(index as usize)
    }

    fn this_thread(&self) -> u64 {
        // The checker has its own names for threads; the address of a thread's variable
        // distinguishes it.
        loom::thread_local! { static HERE: u64 = next_thread(); }
        HERE.with(|here| *here)
    }

    fn full_fence(&self) {
        if self.weakness != Weakness::PlainPublicationAndScan {
            fence(Ordering::SeqCst);
        }
    }
}

fn next_thread() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

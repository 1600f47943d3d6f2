//! The other processes that have an environment open, and how they map the data file.
//!
//! A process with a writable map stores wherever its map reaches, without asking for the file's
//! length. Cutting the file off below the map ends that process. The environment's own files do not
//! record these processes, but the system does. Every process with the environment open holds a
//! record lock on byte 0 of its lock file. The maps of a process can be read.

use alloc::string::String;
use alloc::vec::Vec;

use rustix::fs::{Mode, OFlags};

use crate::file::{open_descriptor, retried};
use crate::platform::io;
use crate::seam::{self, Call};
use crate::{FileIdentity, FileRole, distinct_processes, joined, number_text, process_id};

/// The ways in which other processes map a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherMaps {
    /// All processes that have the environment open map it for reading only, or there are none.
    ReadOnly,
    /// This process can change the file through its map, which reaches that many bytes into it.
    Writable {
        /// The process.
        pid: u32,
        /// Where its map of the file ends.
        bytes: u64,
    },
    /// This process has the environment open but its maps are unknown. It is opening it now, or
    /// belongs to another user. In another name space of processes its id reads as 0.
    Unknown(u32),
}

/// Finds all other processes that hold a record lock on byte 0 of the file `lock`. Returns how they
/// map the file `data`. Reads a few files of `/proc`.
/// # Errors
/// The system's, when there is no `/proc/locks`.
pub fn other_maps(lock: FileIdentity, data: FileIdentity) -> io::Result<OtherMaps> {
    seam::ask(FileRole::Lock, Call::AskProcesses)?;
    let mut unknown = None;
    let own = process_id();
    for pid in lock_holders(&read_text("/proc/locks")?, lock.inode()) {
        if pid == own {
            continue;
        }
        match maps_of(pid, data.inode()) {
            Some(0) => {}
            Some(bytes) => return Ok(OtherMaps::Writable { pid, bytes }),
            None => unknown = Some(pid),
        }
    }
    Ok(unknown.map_or(OtherMaps::ReadOnly, OtherMaps::Unknown))
}

/// Returns the processes that hold a lock on byte 0 of a file with this inode number. A line of
/// `/proc/locks` is `1: POSIX  ADVISORY  READ 4711 fe:00:7790615 0 0`. Devices are not compared,
/// because some file systems have two numbers for one. At worst one process too many is examined.
fn lock_holders(locks: &str, inode: u64) -> Vec<u32> {
    let holder = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        // A waiting request has an arrow before its kind.
        let [_, "POSIX", _, _, pid, file, "0", _] = words[..] else {
            return None;
        };
        let found: u64 = file.rsplit(':').next()?.parse().ok()?;
        (found == inode).then(|| pid.parse().unwrap_or(0))
    };
    distinct_processes(locks.lines().filter_map(holder))
}

/// Returns how many bytes of a file a process maps for writing, 0 if it only reads. Returns `None`
/// if it does not map the file or its maps are unreadable.
fn maps_of(pid: u32, inode: u64) -> Option<u64> {
    let path = joined(&["/proc/", &number_text(pid.into(), 10, 0), "/maps"]);
    let maps = read_text(&path).ok()?;
    written_bytes(&maps, inode)
}

/// Reads a whole file of `/proc`, whose length is unknown before.
fn read_text(path: &str) -> io::Result<String> {
    const PART_BYTES: usize = 4096;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = retried(|| open_descriptor(path.as_bytes(), flags, Mode::empty()))?;
    let mut text = Vec::new();
    loop {
        let end = text.len();
        text.resize(end + PART_BYTES, 0);
        let part = text.get_mut(end..).unwrap_or_default();
        let count = retried(|| Ok(rustix::io::read(&file, &mut *part)?))?;
        text.truncate(end + count);
        if count == 0 {
            return Ok(String::from_utf8_lossy(&text).into_owned());
        }
    }
}

/// The same by the text of `/proc/PID/maps`:
/// `7f00-7f10 r--s 00000000 fe:00 7790616 /path/data.mdb`.
///
/// A writable map followed by an inaccessible page of the same file comes from
/// [`crate::Map::to_store`]. Its process asks for the file's length.
fn written_bytes(maps: &str, inode: u64) -> Option<u64> {
    let inode = number_text(inode, 10, 0);
    let mut found = None;
    let mut lines = maps.lines().map(words_of).peekable();
    while let Some(words) = lines.next() {
        let Some((range, access, offset)) = shared_map_of(&words, &inode) else {
            continue;
        };
        let next = lines
            .peek()
            .and_then(|words| shared_map_of(words, &inode))
            .filter(|(next, _, _)| bounds(next).0 == bounds(range).1);
        let asks_first = next.is_some_and(|(_, access, _)| access == "---s");
        let end = match access.contains('w') && !asks_first {
            true => end_of(range, offset)?,
            false => 0,
        };
        found = found.max(Some(end));
    }
    found
}

fn words_of(line: &str) -> Vec<&str> {
    line.split_ascii_whitespace().collect()
}

/// The addresses, the access and the offset of a line that tells of a shared map of this file.
fn shared_map_of<'a>(words: &[&'a str], inode: &str) -> Option<(&'a str, &'a str, &'a str)> {
    match *words {
        [range, access, offset, _, of, ..] if of == inode && access.ends_with('s') => {
            Some((range, access, offset))
        }
        _ => None,
    }
}

/// Returns the first and the last address of a stretch, as text.
fn bounds(range: &str) -> (&str, &str) {
    range.split_once('-').unwrap_or((range, ""))
}

/// Where in the file a stretch of addresses ends.
fn end_of(range: &str, offset: &str) -> Option<u64> {
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = range.split_once('-')?;
    number(end)?
        .checked_sub(number(start)?)?
        .checked_add(number(offset)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_are_those_with_a_lock_on_byte_0() {
        let locks = "1: POSIX  ADVISORY  WRITE 15423 fe:00:7790615 15423 15423\n\
            2: POSIX  ADVISORY  READ 15423 fe:00:7790615 0 0\n\
            2: -> POSIX  ADVISORY  WRITE 9 fe:00:7790615 0 0\n\
            3: FLOCK  ADVISORY  WRITE 12368 fe:00:7790615 0 EOF\n\
            4: POSIX  ADVISORY  READ 7 fe:00:7790615 0 0\n\
            5: POSIX  ADVISORY  READ 8 fe:00:7790616 0 0\n\
            6: POSIX  ADVISORY  READ 0 fe:00:7790615 0 0\n";
        assert_eq!(lock_holders(locks, 7_790_615), [0, 7, 15423]);
    }

    #[test]
    fn one_writable_map_is_enough() {
        let maps = "5581-5582 r--p 00000000 fe:00 77                    /usr/bin/x\n\
            7f00-7f10 r--s 00000000 fe:00 4 /a b/data.mdb\n\
            7f20-7f30 rw-s 00000008 fe:00 5 /b\n\
            7f30-7f40 r--s 00000000 fe:00 5 /b\n\
            7f50-7f60 rw-p 00000000 fe:00 6 /c\n";
        assert_eq!(written_bytes(maps, 4), Some(0));
        assert_eq!(written_bytes(maps, 5), Some(0x18));
        assert_eq!(
            written_bytes(maps, 6),
            None,
            "a private map changes nothing"
        );
        assert_eq!(written_bytes(maps, 7), None);
    }

    #[test]
    fn a_map_with_a_barrier_behind_it_is_of_no_account() {
        let maps = "7f00-7f10 r--s 00000000 fe:00 4 /data.mdb\n\
            7f20-7f30 rw-s 00000000 fe:00 4 /data.mdb\n\
            7f30-7f31 ---s 00000010 fe:00 4 /data.mdb\n";
        assert_eq!(written_bytes(maps, 4), Some(0));
        let apart = maps.replace("7f30-7f31", "7f31-7f32");
        assert_eq!(written_bytes(&apart, 4), Some(0x10));
        let readable = maps.replace("---s", "r--s");
        assert_eq!(written_bytes(&readable, 4), Some(0x10));
        let of_another = maps.replace("0010 fe:00 4", "0010 fe:00 5");
        assert_eq!(written_bytes(&of_another, 4), Some(0x10));
    }
}

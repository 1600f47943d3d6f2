//! The errors that a call can have.

use fulgurite::seam::{Call, FileRole, Site, Verdict};

pub(super) const EINTR: i32 = 4;
const EPERM: i32 = 1;
const ENOENT: i32 = 2;
const EIO: i32 = 5;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const EACCES: i32 = 13;
const EBUSY: i32 = 16;
const EEXIST: i32 = 17;
const EINVAL: i32 = 22;
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const ENOLCK: i32 = 37;
const EOVERFLOW: i32 = 75;
const EOPNOTSUPP: i32 = 95;
const EDQUOT: i32 = 122;
const ENOTRECOVERABLE: i32 = 131;

const NAMES: &[(i32, &str)] = &[
    (EPERM, "EPERM"),
    (ENOENT, "ENOENT"),
    (EINTR, "EINTR"),
    (EIO, "EIO"),
    (EAGAIN, "EAGAIN"),
    (ENOMEM, "ENOMEM"),
    (EACCES, "EACCES"),
    (EBUSY, "EBUSY"),
    (EEXIST, "EEXIST"),
    (EINVAL, "EINVAL"),
    (ENFILE, "ENFILE"),
    (EMFILE, "EMFILE"),
    (EFBIG, "EFBIG"),
    (ENOSPC, "ENOSPC"),
    (EROFS, "EROFS"),
    (ENOLCK, "ENOLCK"),
    (EOVERFLOW, "EOVERFLOW"),
    (EOPNOTSUPP, "EOPNOTSUPP"),
    (EDQUOT, "EDQUOT"),
    (ENOTRECOVERABLE, "ENOTRECOVERABLE"),
];

/// The name of an error number.
pub(super) fn name(errno: i32) -> &'static str {
    let known = NAMES.iter().find(|(number, _)| *number == errno);
    known.map_or("E?", |(_, name)| name)
}

/// A verdict as [`super::Fault`] writes it.
pub(super) fn verdict(text: &str) -> Option<Verdict> {
    if let Some(len) = text.strip_prefix("short") {
        return len.parse().ok().map(Verdict::Short);
    }
    let known = NAMES.iter().find(|(_, name)| *name == text);
    known.map(|(errno, _)| Verdict::Fail(*errno))
}

/// The error numbers that a call can plausibly have, the likeliest first.
fn errors(site: Site) -> &'static [i32] {
    match site.call {
        // A read-only file system is believed, and there readers take no locks.
        Call::Open if site.role == FileRole::Lock => {
            &[EMFILE, EACCES, EIO, ENFILE, ENOSPC, EINTR, ENOMEM, EDQUOT]
        }
        Call::Open => &[
            EMFILE, EACCES, EIO, ENFILE, ENOSPC, EROFS, EINTR, ENOMEM, EDQUOT,
        ],
        Call::Status => &[EIO, ENOMEM, EOVERFLOW],
        Call::Look => &[EACCES, EIO, ENOMEM],
        Call::Read => &[EIO, EINTR, ENOMEM],
        Call::Write | Call::WriteVectored => &[ENOSPC, EIO, EINTR, EDQUOT, EFBIG, ENOMEM],
        Call::WriteMeta => &[EIO, ENOSPC, EINTR, EDQUOT],
        Call::Sync if site.role == FileRole::Directory => &[EIO, EINVAL, EINTR],
        Call::Sync => &[EIO, ENOSPC, EINTR, EDQUOT],
        Call::Resize => &[ENOSPC, EIO, EINTR, EFBIG, EPERM],
        Call::Allocate => &[ENOSPC, EOPNOTSUPP, EIO, EINTR, EDQUOT, EFBIG],
        Call::Punch => &[EOPNOTSUPP, EIO, ENOSPC, EINTR, EPERM],
        Call::AskProcesses => &[EACCES, ENOENT, EMFILE],
        Call::Map => &[ENOMEM, EAGAIN, EACCES, EPERM, ENFILE],
        Call::Unmap => &[ENOMEM],
        Call::Flush => &[EIO, EBUSY, ENOMEM, ENOSPC, EINTR],
        Call::Advise => &[EAGAIN, ENOMEM],
        Call::LockTry => &[ENOLCK, EINTR, EIO],
        Call::LockWait => &[ENOLCK, EINTR, EIO],
        Call::LockTest => &[EIO, EINTR, EOVERFLOW],
        Call::MutexMake => &[ENOMEM, EAGAIN],
        Call::MutexLock => &[ENOTRECOVERABLE, EAGAIN, EINVAL],
        Call::MutexRepair => &[EINVAL],
        Call::Unlink => &[EACCES, EIO, EBUSY],
        Call::Duplicate => &[EMFILE],
    }
}

/// Returns every outcome of a call of `bytes` bytes; `most` bounds how much is tried.
pub(super) fn verdicts(site: Site, len: usize, most: usize) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = Vec::new();
    let reads_or_writes = matches!(
        site.call,
        Call::Read | Call::Write | Call::WriteVectored | Call::WriteMeta
    );
    verdicts.extend(errors(site).iter().map(|errno| Verdict::Fail(*errno)));
    if reads_or_writes && len > 1 {
        // The likeliest errors first, then parts.
        let at = verdicts.len().min(2);
        for part in [len / 2, 1, len - 1] {
            verdicts.insert(at, Verdict::Short(part));
        }
    }
    verdicts.dedup();
    verdicts.truncate(most);
    verdicts
}

/// Returns true for calls at the close that return disk room, or ask whether it can be returned.
/// These may fail.
pub(super) fn gives_room_back(site: Site) -> bool {
    match site.call {
        Call::LockTry => site.role == FileRole::Lock,
        Call::Resize => site.role == FileRole::Data,
        _ => false,
    }
}

/// Returns true if the operation must report a failure of this call.
pub(super) fn must_be_told(site: Site) -> bool {
    match site.call {
        // The reservation is tried again with less, or at another place.
        Call::Map => site.role == FileRole::Lock,
        // Hints, and what is given back.
        Call::Advise | Call::Unmap | Call::Unlink => false,
        // Room is taken in advance where that is possible.
        Call::Allocate => false,
        // Asked again when it is needed.
        Call::Status => false,
        // Dead readers can wait.
        Call::LockTest => false,
        _ => true,
    }
}

//! Writes to pipes for programs that may handle SIGPIPE in any way.

use crate::platform::io;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr;

/// While it lives, writing to a pipe without readers is an error for this thread. No signal ends
/// the program.
#[derive(Debug)]
pub struct NoPipeSignal {
    /// The signals that the thread had blocked before; `None` if SIGPIPE was among them.
    before: Option<SignalSet>,
    /// The mask belongs to a thread.
    thread: PhantomData<*const ()>,
}

impl NoPipeSignal {
    /// Blocks the signal for the calling thread.
    /// # Errors
    /// The system's; there should be none.
    pub fn block() -> io::Result<NoPipeSignal> {
        let mut before = SignalSet::none();
        // SAFETY: `SignalSet` holds sets that `sigemptyset` has made valid, and both references
        // live for the call.
        let failed = unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, &SignalSet::pipe().0, &raw mut before.0)
        };
        if failed != 0 {
            return Err(io::Error::from_raw_os_error(failed));
        }
        Ok(NoPipeSignal {
            before: (!before.has_pipe()).then_some(before),
            thread: PhantomData,
        })
    }
}

impl Drop for NoPipeSignal {
    fn drop(&mut self) {
        let Some(before) = &self.before else {
            return;
        };
        // A signal that came meanwhile is pending for the thread. It is taken, because the write
        // that raised it has failed with an error already.
        let at_once = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the set is valid, the time is a whole `timespec`, and a null pointer asks for no
        // information.
        unsafe { libc::sigtimedwait(&SignalSet::pipe().0, ptr::null_mut(), &raw const at_once) };
        // SAFETY: the set is the thread's old one, which the system filled in. A null pointer asks
        // for no copy.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before.0, ptr::null_mut()) };
    }
}

/// A set of signals.
struct SignalSet(libc::sigset_t);

impl core::fmt::Debug for SignalSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SignalSet").finish_non_exhaustive()
    }
}

impl SignalSet {
    fn none() -> SignalSet {
        let mut set = MaybeUninit::uninit();
        // SAFETY: `set` has room for a whole set, which the call writes.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        // SAFETY: `sigemptyset` has written the whole set.
        SignalSet(unsafe { set.assume_init() })
    }

    fn pipe() -> SignalSet {
        let mut set = SignalSet::none();
        // SAFETY: `set` is a valid set, and SIGPIPE is a signal of this system.
        unsafe { libc::sigaddset(&raw mut set.0, libc::SIGPIPE) };
        set
    }

    fn has_pipe(&self) -> bool {
        // SAFETY: a `SignalSet` always holds a valid set, and SIGPIPE is a signal of this system.
        unsafe { libc::sigismember(&raw const self.0, libc::SIGPIPE) == 1 }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Test programs ignore the signal; this gives it back its force, so that without the guard the
    /// program would end.
    #[test]
    fn a_pipe_without_reader_is_an_error() {
        // SAFETY: the default action needs no handler.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        for _ in 0..2 {
            let (reader, mut writer) = io::pipe().unwrap();
            drop(reader);
            let guard = NoPipeSignal::block().unwrap();
            let refused = writer.write(b"bytes").unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::BrokenPipe);
            drop(guard);
        }
        // SAFETY: ignoring a signal needs no handler.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    }
}

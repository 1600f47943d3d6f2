//! Each system call below the C interface fails. The functions return the system's number, or a
//! code that the header has for it. Nothing committed is lost, and the handles can be closed.

use std::ffi::{CStr, CString, c_int};
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex};

use fulgurite_os::seam::{Call, Injector, Site, Verdict, install};
use fulgurite_testkit::quick_or_long;
use lmdb::{MDB_env, MDB_txn, MDB_val};

const PANIC: c_int = -30795;
const BAD_TXN: c_int = -30782;
const MAP_FULL: c_int = -30792;
const NOT_FOUND: c_int = -30798;
const READ_ONLY: u32 = 0x20000;
const WRITE_MAP: u32 = 0x80000;
const CREATE: u32 = 0x40000;
const NEXT: u32 = 8;
const TRANSACTIONS: usize = 4;
const RECORDS: usize = 25;

/// A function of the library.
macro_rules! c {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: handles are those that the library gave and still has; values and texts outlive
        // the call.
        unsafe { lmdb::$function($($argument),*) }
    }};
}

/// Lets one call fail, counted from 1, and notes all of them.
#[derive(Default)]
struct OneFault(Mutex<State>);

#[derive(Default)]
struct State {
    made: Vec<(Site, usize)>,
    fault: Option<(usize, Verdict)>,
    is_paused: bool,
}

impl OneFault {
    fn pause(&self, yes: bool) {
        self.0.lock().unwrap().is_paused = yes;
    }
}

impl Injector for OneFault {
    fn verdict(&self, site: Site, len: usize) -> Verdict {
        let mut state = self.0.lock().unwrap();
        if state.is_paused {
            return Verdict::Go;
        }
        state.made.push((site, len));
        match state.fault {
            Some((number, verdict)) if number == state.made.len() => verdict,
            _ => Verdict::Go,
        }
    }
}

/// An environment and its write transaction, closed when dropped.
struct Session {
    env: *mut MDB_env,
    is_open: bool,
    txn: *mut MDB_txn,
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.txn.is_null() {
            c!(mdb_txn_abort(self.txn));
        }
        if !self.env.is_null() {
            c!(mdb_env_close(self.env));
        }
    }
}

type CallResult = Result<(), (&'static str, c_int)>;

fn told(function: &'static str, code: c_int) -> CallResult {
    if code == 0 {
        Ok(())
    } else {
        Err((function, code))
    }
}

fn value(bytes: &[u8]) -> MDB_val {
    MDB_val {
        mv_size: bytes.len(),
        mv_data: bytes.as_ptr().cast_mut().cast(),
    }
}

impl Session {
    fn new() -> Session {
        Session {
            env: ptr::null_mut(),
            is_open: false,
            txn: ptr::null_mut(),
        }
    }

    fn open(&mut self, path: &CStr, flags: u32) -> CallResult {
        told("mdb_env_create", c!(mdb_env_create(&raw mut self.env)))?;
        told("mdb_env_set_maxdbs", c!(mdb_env_set_maxdbs(self.env, 4)))?;
        told(
            "mdb_env_set_mapsize",
            c!(mdb_env_set_mapsize(self.env, 1 << 20)),
        )?;
        told(
            "mdb_env_open",
            c!(mdb_env_open(self.env, path.as_ptr(), flags, 0o644)),
        )?;
        self.is_open = true;
        Ok(())
    }

    fn store(&mut self, number: usize) -> CallResult {
        told(
            "mdb_txn_begin",
            c!(mdb_txn_begin(
                self.env,
                ptr::null_mut(),
                0,
                &raw mut self.txn
            )),
        )?;
        let mut dbi = 0;
        told(
            "mdb_dbi_open",
            c!(mdb_dbi_open(
                self.txn,
                c"things".as_ptr(),
                CREATE,
                &raw mut dbi
            )),
        )?;
        for record in 0..RECORDS {
            let name = format!("key{:06}", number * RECORDS + record);
            let (mut key, mut data) = (value(name.as_bytes()), value(&[7; 600]));
            told(
                "mdb_put",
                c!(mdb_put(self.txn, dbi, &raw mut key, &raw mut data, 0)),
            )?;
        }
        // The handle ends with any result.
        let txn = std::mem::replace(&mut self.txn, ptr::null_mut());
        told("mdb_txn_commit", c!(mdb_txn_commit(txn)))
    }

    /// Counts the records with a cursor.
    fn count(&self) -> Result<usize, (&'static str, c_int)> {
        let mut txn = ptr::null_mut();
        told(
            "mdb_txn_begin",
            c!(mdb_txn_begin(
                self.env,
                ptr::null_mut(),
                READ_ONLY,
                &raw mut txn
            )),
        )?;
        let counted = count_in(txn);
        c!(mdb_txn_abort(txn));
        counted
    }

    /// The rest of what there is: facts, copies, larger maps.
    fn others(&self, home: &Path, number: usize) -> CallResult {
        told("mdb_env_sync", c!(mdb_env_sync(self.env, 1)))?;
        let mut dead = 0;
        told(
            "mdb_reader_check",
            c!(mdb_reader_check(self.env, &raw mut dead)),
        )?;
        let place = home.join(format!("copy{number}"));
        std::fs::create_dir_all(&place).unwrap();
        let path = CString::new(place.to_str().unwrap()).unwrap();
        let copied = c!(mdb_env_copy2(self.env, path.as_ptr(), 1));
        std::fs::remove_dir_all(&place).unwrap();
        told("mdb_env_copy2", copied)?;
        let file = tempfile::tempfile().unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
        told("mdb_env_copyfd2", c!(mdb_env_copyfd2(self.env, fd, 0)))?;
        told(
            "mdb_env_set_mapsize",
            c!(mdb_env_set_mapsize(self.env, 3 << 30)),
        )
    }
}

fn count_in(txn: *mut MDB_txn) -> Result<usize, (&'static str, c_int)> {
    let mut dbi = 0;
    match c!(mdb_dbi_open(txn, c"things".as_ptr(), 0, &raw mut dbi)) {
        NOT_FOUND => return Ok(0),
        code => told("mdb_dbi_open", code)?,
    }
    let mut cursor = ptr::null_mut();
    told(
        "mdb_cursor_open",
        c!(mdb_cursor_open(txn, dbi, &raw mut cursor)),
    )?;
    let mut found = 0;
    let (mut key, mut data) = (value(b""), value(b""));
    let ended = loop {
        match c!(mdb_cursor_get(cursor, &raw mut key, &raw mut data, NEXT)) {
            0 => found += 1,
            code => break code,
        }
    };
    c!(mdb_cursor_close(cursor));
    match ended {
        NOT_FOUND => Ok(found),
        code => Err(("mdb_cursor_get", code)),
    }
}

/// Does what is left to do, in one session.
fn work(session: &mut Session, home: &Path, flags: u32, done: &mut usize) -> CallResult {
    let path = CString::new(home.join("store").to_str().unwrap()).unwrap();
    session.open(&path, flags)?;
    while *done < TRANSACTIONS {
        session.store(*done)?;
        *done += 1;
        assert_eq!(session.count()?, *done * RECORDS);
    }
    session.others(home, *done)
}

/// The calls that a run made, and what was told of failures.
type Calls = Vec<(Site, usize)>;
type Errors = Vec<(&'static str, c_int)>;

/// Runs the program to its end, in as many sessions as it takes.
fn run(flags: u32, fault: Option<(usize, Verdict)>) -> (Calls, Errors) {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("store")).unwrap();
    let injector = Arc::new(OneFault::default());
    injector.0.lock().unwrap().fault = fault;
    let _installed = install(injector.clone());
    let (mut done, mut errors) = (0, Vec::new());
    loop {
        let mut session = Session::new();
        let result = work(&mut session, home.path(), flags, &mut done);
        injector.pause(true);
        if let Err(error) = result {
            errors.push(error);
            assert!(errors.len() < 4, "{fault:?}: no end of errors: {errors:?}");
            if session.is_open {
                let txn = std::mem::replace(&mut session.txn, ptr::null_mut());
                if !txn.is_null() {
                    c!(mdb_txn_abort(txn));
                }
                match session.count() {
                    Ok(found) => assert_eq!(found, done * RECORDS, "{fault:?}: {error:?}"),
                    Err((_, code)) => assert_eq!(code, PANIC, "{fault:?}: {error:?}"),
                }
            }
            drop(session);
            injector.pause(false);
            continue;
        }
        assert_eq!(session.count(), Ok(TRANSACTIONS * RECORDS), "{fault:?}");
        drop(session);
        let state = injector.0.lock().unwrap();
        assert_nothing_left(home.path(), &state.fault);
        return (state.made.clone(), errors);
    }
}

/// No descriptor of a file in the directory is open.
fn assert_nothing_left(home: &Path, fault: &Option<(usize, Verdict)>) {
    for entry in std::fs::read_dir("/proc/self/fd").unwrap() {
        let target = std::fs::read_link(entry.unwrap().path()).unwrap_or_default();
        assert!(
            !target.starts_with(home),
            "{fault:?}: {target:?} is left open"
        );
    }
}

const EINTR: c_int = 4;

fn errors_of(call: Call) -> &'static [c_int] {
    match call {
        Call::Open => &[24, 13, 5, 28, 30],
        Call::Map => &[12, 11, 23],
        Call::LockTry | Call::LockWait | Call::LockTest => &[37, EINTR, 5],
        Call::MutexMake => &[12, 11],
        Call::MutexLock | Call::MutexRepair => &[131, 22],
        Call::Advise | Call::Unmap => &[12],
        Call::Duplicate => &[24],
        Call::Status | Call::Look => &[5, 13, 12],
        _ => &[5, 28, EINTR, 122, 27],
    }
}

fn sweep(flags: u32) {
    let (made, errors) = run(flags, None);
    assert_eq!(errors, []);
    let (mut runs, mut told_count) = (0, 0);
    for (index, (site, len)) in made.iter().enumerate() {
        let mut verdicts: Vec<Verdict> = errors_of(site.call)
            .iter()
            .map(|e| Verdict::Fail(*e))
            .collect();
        if *len > 1 {
            verdicts.push(Verdict::Short(len / 2));
        }
        let most = quick_or_long(1, verdicts.len());
        let chosen = verdicts
            .iter()
            .cycle()
            .skip(index % verdicts.len())
            .take(most);
        for verdict in chosen {
            let (_, errors) = run(flags, Some((index + 1, *verdict)));
            runs += 1;
            told_count += usize::from(!errors.is_empty());
            let context = format!("call {} ({site}) {verdict:?}: {errors:?}", index + 1);
            for (number, (function, code)) in errors.iter().enumerate() {
                let is_documented = match verdict {
                    Verdict::Fail(EINTR) | Verdict::Short(_) | Verdict::Go => false,
                    Verdict::Fail(errno) => {
                        *code == *errno
                            || *code == PANIC
                            || *code == BAD_TXN && *function != "mdb_txn_begin"
                            || *code == MAP_FULL && site.call == Call::Map
                    }
                };
                assert!(is_documented && number == 0, "{context}");
            }
        }
    }
    println!("{} calls, {runs} faults, {told_count} told", made.len());
    assert!(
        told_count * 3 > runs,
        "most faults go unnoticed: {told_count} of {runs}"
    );
}

#[test]
fn every_system_call_may_fail() {
    sweep(0);
}

#[test]
fn every_system_call_may_fail_with_a_writable_map() {
    sweep(WRITE_MAP);
}

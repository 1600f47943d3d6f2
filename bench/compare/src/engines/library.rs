//! Shared libraries of C, opened by path. A missing library is reported, and does not break the
//! build.

/// Declares a table of C functions as `struct NAME`, with a method for each. Names of symbols are
/// the methods' with a prefix.
///
/// The methods are as unsafe as C, although they are not marked so. Each table is private to an
/// adapter, which keeps its arguments alive and in the layout of the library's header.
macro_rules! c_library {
    ($name:ident { $($function:ident ( $($argument:ident : $type:ty),* $(,)? ) $(-> $result:ty)?;)* }) => {
        struct $name {
            $($function: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
            // Lasts as long as the pointers into it.
            _library: libloading::Library,
        }

        impl $name {
            fn load(path: &std::path::Path, prefix: &str) -> anyhow::Result<Self> {
                // SAFETY: engines' libraries do nothing at loading that this process could be
                // harmed by.
                let library = unsafe { libloading::Library::new(path) }
                    .with_context(|| format!("cannot load {}", path.display()))?;
                Ok(Self {
                    $($function: {
                        let symbol = format!("{prefix}{}\0", stringify!($function));
                        // SAFETY: the types are those of the library's header.
                        *unsafe { library.get(symbol.as_bytes()) }.with_context(|| format!("no function {symbol}"))?
                    },)*
                    _library: library,
                })
            }

            $(#[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "the library's header sets their number")]
            fn $function(&self, $($argument: $type),*) $(-> $result)? {
                // SAFETY: the adapter passes what the header asks for, alive; see the macro's
                // words.
                unsafe { (self.$function)($($argument),*) }
            })*
        }
    };
}

pub(super) use c_library;

/// Lends the bytes that a C function has pointed out.
///
/// # Safety
/// `len` bytes at `start` must be readable and stay unchanged for `'a`, or `len` must be 0.
pub(super) unsafe fn octets<'a>(start: *const std::ffi::c_void, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller passes readable bytes.
    unsafe { std::slice::from_raw_parts(start.cast(), len) }
}

/// Returns a copy of a text of C.
///
/// # Safety
/// `text` must point to a string that lasts until the return.
pub(super) unsafe fn text(text: *const std::ffi::c_char) -> String {
    // SAFETY: the caller passes a string.
    unsafe { std::ffi::CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// A path as C wants it.
pub(super) fn c_path(path: &std::path::Path) -> anyhow::Result<std::ffi::CString> {
    use std::os::unix::ffi::OsStrExt as _;
    Ok(std::ffi::CString::new(path.as_os_str().as_bytes())?)
}

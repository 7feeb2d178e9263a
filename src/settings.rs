//! The settings under `daybook.`; the prefix is reserved, so that a misspelt one is refused instead of ignored.

use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_sys};

static SETTLE_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(30_000);

/// How long, in milliseconds, a load waits for transactions that may still commit rows of its interval; 0: it does
/// not look for them.
pub fn settle_timeout() -> i32 {
    SETTLE_TIMEOUT.get()
}

/// Defines all settings and reserves the prefix. Called once, when the library is loaded.
pub fn define() {
    GucRegistry::define_int_guc(
        c"daybook.settle_timeout",
        c"How long a load waits for transactions that still hold a write lock on its source.",
        c"After it, the load fails and names them. 0 reads at once, without looking for such transactions.",
        &SETTLE_TIMEOUT,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    // SAFETY: the class name is a constant, null-terminated string.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"daybook".as_ptr()) };
}

//! The settings under `daybook.`; the prefix is reserved, so that a misspelt one is refused instead of ignored.

use std::ffi::{CStr, CString};

use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_sys};

static SETTLE_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(30_000);

/// How long, in milliseconds, a load waits for transactions that may still commit rows of its interval; 0: it does
/// not look for them.
pub fn settle_timeout() -> i32 {
    SETTLE_TIMEOUT.get()
}

/// A setting that is a text.
pub struct TextSetting {
    value: GucSetting<Option<CString>>,
    name: &'static CStr,
    short: &'static CStr,
    long: &'static CStr,
}

impl TextSetting {
    const fn new(
        name: &'static CStr,
        default: &'static CStr,
        short: &'static CStr,
        long: &'static CStr,
    ) -> Self {
        Self {
            value: GucSetting::<Option<CString>>::new(Some(default)),
            name,
            short,
            long,
        }
    }

    /// Its value in this session; `None` where it is empty.
    pub fn get(&self) -> Option<String> {
        self.value
            .get()
            .map(|text| text.to_string_lossy().trim().to_owned())
            .filter(|text| !text.is_empty())
    }

    /// Its full name.
    pub fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }
}

/// The unit of the time axis of a history that names none.
pub static TIME_AXIS_UNIT: TextSetting = TextSetting::new(
    c"daybook.time_axis_unit",
    c"1ms",
    c"Unit of the time axis of new histories.",
    c"The gap between the end of a version and the begin of the next: a number with us, ms, s, m, h or d, or 0 for half-open validity.",
);
/// The column of a new history that says from when a version is valid.
pub static CAPTURED_COLUMN_NAME: TextSetting = TextSetting::new(
    c"daybook.captured_column_name",
    c"dl_ts_captured",
    c"Name of the valid-from column of new histories.",
    c"A table that is taken over must have it already.",
);
/// The column of a new history that says until when a version is valid.
pub static DELIMITED_COLUMN_NAME: TextSetting = TextSetting::new(
    c"daybook.delimited_column_name",
    c"dl_ts_delimited",
    c"Name of the valid-to column of new histories.",
    c"A table that is taken over must have it already.",
);
/// The column of a new history for the fingerprint of a version.
pub static HASH_COLUMN_NAME: TextSetting = TextSetting::new(
    c"daybook.hash_column_name",
    c"dl_hash",
    c"Name of the fingerprint column of new histories.",
    c"Empty: new histories have none. A table that is taken over need not have it.",
);
/// What marks the current version of a new history.
pub static UPPER_HORIZON: TextSetting = TextSetting::new(
    c"daybook.upper_horizon",
    c"9999-12-31 00:00:00",
    c"Valid-to of current versions in new histories.",
    c"A time, which means UTC, or infinity, or null.",
);
/// The reference timestamp of historize calls that name none.
pub static REFERENCE_TIMESTAMP: TextSetting = TextSetting::new(
    c"daybook.reference_timestamp",
    c"",
    c"Reference timestamp of all historize calls that name none.",
    c"Empty: the start of the transaction of each.",
);

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
    for setting in [
        &TIME_AXIS_UNIT,
        &CAPTURED_COLUMN_NAME,
        &DELIMITED_COLUMN_NAME,
        &HASH_COLUMN_NAME,
        &UPPER_HORIZON,
        &REFERENCE_TIMESTAMP,
    ] {
        GucRegistry::define_string_guc(
            setting.name,
            setting.short,
            setting.long,
            &setting.value,
            GucContext::Userset,
            GucFlags::default(),
        );
    }
    // SAFETY: the class name is a constant, null-terminated string.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"daybook".as_ptr()) };
}

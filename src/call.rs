//! Functions written against the server's own call convention: those that a statement calls for each of its rows, where the comfort
//! of a generated wrapper would cost more than the work.

use pgrx::pg_sys;

/// Tells the server how a function is called, as it asks before the first call.
macro_rules! version_1 {
    ($info:ident) => {
        #[unsafe(no_mangle)]
        #[doc(hidden)]
        pub extern "C" fn $info() -> &'static pgrx::pg_sys::Pg_finfo_record {
            static V1: pgrx::pg_sys::Pg_finfo_record =
                pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
            &V1
        }
    };
}
pub(crate) use version_1;

/// An argument of a call, counted from 0; `None` for NULL.
///
/// # Safety
/// The call must have an argument of this number.
pub unsafe fn argument(fcinfo: pg_sys::FunctionCallInfo, number: usize) -> Option<pg_sys::Datum> {
    // SAFETY: see above.
    unsafe {
        let argument = &*(*fcinfo).args.as_ptr().add(number);
        (!argument.isnull).then_some(argument.value)
    }
}

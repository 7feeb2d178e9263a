//! The server's linked values: reading its lists.

use pgrx::pg_sys;

/// The number of members of a list; a null list has none.
///
/// # Safety
/// `list` must be null or a valid list.
pub unsafe fn length(list: *const pg_sys::List) -> usize {
    // SAFETY: see above.
    unsafe { list.as_ref() }.map_or(0, |list| list.length as usize)
}

/// The member at `index`, from 0, of a list of pointers; null if there is none.
///
/// # Safety
/// `list` must be null or a valid list of pointers to `T`.
pub unsafe fn pointer<T>(list: *const pg_sys::List, index: usize) -> *mut T {
    // SAFETY: see above; the index is within the list.
    unsafe {
        if index >= length(list) {
            return std::ptr::null_mut();
        }
        (*(*list).elements.add(index)).ptr_value.cast()
    }
}

/// The members of a list of OIDs.
///
/// # Safety
/// `list` must be null or a valid list of OIDs.
pub unsafe fn oids(list: *const pg_sys::List) -> Vec<pg_sys::Oid> {
    // SAFETY: see above.
    unsafe {
        (0..length(list))
            .map(|index| (*(*list).elements.add(index)).oid_value)
            .collect()
    }
}

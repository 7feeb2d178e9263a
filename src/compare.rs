//! Comparing values and fingerprinting rows, for every type alike: what counts is the stored image, not an operator.
//! What is known of a type is kept between calls.

use std::cell::RefCell;
use std::ffi::CStr;

use pgrx::{FromDatum, IntoDatum, PgTupleDesc, pg_guard, pg_sys};

use crate::call::{argument, version_1};
use crate::error::{Error, counted};
use crate::ident::Ident;

/// The version of the fingerprint, its first byte.
const HASH_VERSION: u8 = 1;
/// How many bytes at the start of a fingerprint say how it was made.
pub const HASH_PREFIX_BYTES: usize = 4;

/// How values of a type are compared.
#[derive(Clone, Copy)]
enum Comparison {
    /// As `real`: every NaN equals every NaN.
    Float4,
    /// As `double precision`, likewise.
    Float8,
    /// Field by field.
    Row,
    /// As arrays of floats of so many bytes: element by element.
    Floats(usize),
    /// By length and bytes.
    Image { length: i16, by_value: bool },
}

impl Comparison {
    /// # Safety
    /// Must be called within a transaction; `oid` must be a type.
    unsafe fn of(oid: pg_sys::Oid) -> Self {
        // SAFETY: see above; the out-pointers are valid.
        unsafe {
            let base = pg_sys::getBaseType(oid);
            match base {
                pg_sys::FLOAT4OID => return Self::Float4,
                pg_sys::FLOAT8OID => return Self::Float8,
                pg_sys::RECORDOID => return Self::Row,
                _ => {}
            }
            if pg_sys::get_typtype(base) as u8 == pg_sys::TYPTYPE_COMPOSITE {
                return Self::Row;
            }
            match pg_sys::get_element_type(base) {
                pg_sys::FLOAT4OID => return Self::Floats(4),
                pg_sys::FLOAT8OID => return Self::Floats(8),
                _ => {}
            }
            let (mut length, mut by_value) = (0, false);
            pg_sys::get_typlenbyval(base, &mut length, &mut by_value);
            Self::Image { length, by_value }
        }
    }

    /// # Safety
    /// Both datums must be of the type that this comparison was made for.
    unsafe fn same(self, one: pg_sys::Datum, other: pg_sys::Datum) -> bool {
        // SAFETY: see above.
        unsafe {
            match self {
                Self::Float4 => {
                    let (one, other) = (
                        f32::from_bits(one.value() as u32),
                        f32::from_bits(other.value() as u32),
                    );
                    one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
                }
                Self::Float8 => {
                    let (one, other) = (
                        f64::from_bits(one.value() as u64),
                        f64::from_bits(other.value() as u64),
                    );
                    one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
                }
                Self::Row => same_rows(&Row::new(one), &Row::new(other)),
                Self::Floats(width) => {
                    pg_sys::datum_image_eq(one, other, false, -1) || same_floats(one, other, width)
                }
                Self::Image { by_value: true, .. } => one.value() == other.value(),
                Self::Image { length: -1, .. } => match (plain_bytes(one), plain_bytes(other)) {
                    (Some(one), Some(other)) => one == other,
                    _ => pg_sys::datum_image_eq(one, other, false, -1),
                },
                Self::Image { length, .. } => {
                    pg_sys::datum_image_eq(one, other, false, i32::from(length))
                }
            }
        }
    }
}

/// Whether two arrays of floats are alike, every NaN being like every other.
///
/// # Safety
/// Both datums must be arrays of floats of so many bytes.
unsafe fn same_floats(one: pg_sys::Datum, other: pg_sys::Datum, width: usize) -> bool {
    /// Length, dimensions, offset of the elements, their type: what stands before everything else.
    const FIXED: usize = 16;
    // SAFETY: see above; detoasted, an array is its header followed by its elements.
    let (one, other) = unsafe {
        let bytes = |datum: pg_sys::Datum| {
            let array = pg_sys::pg_detoast_datum(datum.cast_mut_ptr());
            std::slice::from_raw_parts(array.cast::<u8>().cast_const(), pgrx::varsize_4b(array))
        };
        (bytes(one), bytes(other))
    };
    let word = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        word.map_or(0, i32::from_ne_bytes) as usize
    };
    let elements = match word(one, 8) {
        // Without NULLs they follow the dimensions, aligned.
        0 => (FIXED + 8 * word(one, 4)).next_multiple_of(8),
        offset => offset,
    };
    let is_nan = |bytes: &[u8]| match bytes.try_into() {
        Ok(bytes) => f64::from_ne_bytes(bytes).is_nan(),
        Err(_) => bytes
            .try_into()
            .is_ok_and(|bytes| f32::from_ne_bytes(bytes).is_nan()),
    };
    one.len() == other.len()
        && one.get(..elements) == other.get(..elements)
        && one[elements..]
            .chunks(width)
            .zip(other[elements..].chunks(width))
            .all(|(one, other)| one == other || (is_nan(one) && is_nan(other)))
}

/// The bytes of a value of variable length, unless they are compressed or stored elsewhere.
///
/// # Safety
/// The datum must be such a value, and stay in memory while the bytes are used.
unsafe fn plain_bytes<'a>(datum: pg_sys::Datum) -> Option<&'a [u8]> {
    // SAFETY: see above.
    unsafe {
        let value: *const pg_sys::varlena = datum.cast_mut_ptr();
        if pgrx::varatt_is_1b_e(value) || pgrx::varatt_is_4b_c(value) {
            return None;
        }
        let (data, length) = (pgrx::vardata_any(value), pgrx::varsize_any_exhdr(value));
        Some(std::slice::from_raw_parts(data.cast::<u8>(), length))
    }
}

/// A composite value taken apart.
struct Row {
    types: Vec<pg_sys::Oid>,
    values: Vec<Option<pg_sys::Datum>>,
}

impl Row {
    /// # Safety
    /// The datum must be a composite value.
    unsafe fn new(datum: pg_sys::Datum) -> Self {
        // SAFETY: see above; the descriptor is released when it is dropped, values point into the detoasted copy.
        unsafe {
            let header = pg_sys::pg_detoast_datum(datum.cast_mut_ptr())
                .cast::<pg_sys::HeapTupleHeaderData>();
            let kind = (*header).t_choice.t_datum;
            let descriptor = pg_sys::lookup_rowtype_tupdesc(kind.datum_typeid, kind.datum_typmod);
            let mut tuple = pg_sys::HeapTupleData {
                t_len: pgrx::varsize(header.cast()) as u32,
                t_data: header,
                ..Default::default()
            };
            let count = (*descriptor).natts as usize;
            let mut values = vec![pg_sys::Datum::from(0); count];
            let mut nulls = vec![false; count];
            pg_sys::heap_deform_tuple(
                &mut tuple,
                descriptor,
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
            let descriptor = PgTupleDesc::from_pg(descriptor);
            let mut row = Self {
                types: Vec::with_capacity(count),
                values: Vec::with_capacity(count),
            };
            for (attribute, (value, null)) in descriptor.iter().zip(values.iter().zip(&nulls)) {
                if !attribute.attisdropped {
                    row.types.push(attribute.atttypid);
                    row.values.push((!null).then_some(*value));
                }
            }
            row
        }
    }
}

/// # Safety
/// The rows must still be in memory.
unsafe fn same_rows(one: &Row, other: &Row) -> bool {
    one.types == other.types
        && one
            .types
            .iter()
            .zip(one.values.iter().zip(&other.values))
            .all(|(oid, pair)| match pair {
                (None, None) => true,
                // SAFETY: both values are of the type, as the rows say.
                (Some(one), Some(other)) => unsafe { Comparison::of(*oid).same(*one, *other) },
                _ => false,
            })
}

version_1!(pg_finfo_daybook_same);

/// `daybook.same(anyelement, anyelement)`: whether two values have the same stored image; NULL equals NULL, NaN equals NaN.
///
/// # Safety
/// To be called by the server alone.
#[unsafe(no_mangle)]
#[pg_guard]
pub unsafe extern "C-unwind" fn daybook_same(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
    // SAFETY: the server passes a valid call with two arguments of one type; what is kept in fn_extra was made here and
    // lives as long as the call's expression.
    let same = unsafe {
        match (argument(fcinfo, 0), argument(fcinfo, 1)) {
            (None, None) => true,
            (Some(one), Some(other)) => {
                let info = (*fcinfo).flinfo;
                let mut known = (*info).fn_extra.cast::<Comparison>();
                if known.is_null() {
                    known = pg_sys::MemoryContextAlloc((*info).fn_mcxt, size_of::<Comparison>())
                        .cast::<Comparison>();
                    known.write(Comparison::of(pg_sys::get_fn_expr_argtype(info, 0)));
                    (*info).fn_extra = known.cast();
                }
                (*known).same(one, other)
            }
            _ => false,
        }
    };
    pg_sys::Datum::from(same)
}

/// What a fingerprint over these columns begins with: the version of the algorithm, and 24 bits that stand for the columns.
pub fn hash_prefix(columns: &[Ident]) -> Vec<u8> {
    let mut names: Vec<&str> = columns.iter().map(Ident::as_str).collect();
    names.sort_unstable();
    let mut hash = blake3::Hasher::new();
    for name in names {
        add(&mut hash, name.as_bytes());
    }
    let mut prefix = vec![HASH_VERSION];
    prefix.extend_from_slice(&hash.finalize().as_bytes()[..HASH_PREFIX_BYTES - 1]);
    prefix
}

fn add(hash: &mut blake3::Hasher, part: &[u8]) {
    hash.update(&(part.len() as u64).to_le_bytes());
    hash.update(part);
}

version_1!(pg_finfo_daybook_row_hash);

/// What [`daybook_row_hash`] knows of the names and the types of its last call.
struct HashedColumns {
    /// The names as they were given.
    names: Vec<u8>,
    types: Vec<pg_sys::Oid>,
    /// In the order of the names' bytes: name, place in the row, how a value is written.
    columns: Vec<(String, usize, Writer)>,
}

/// How a value is written, as its type's output function does.
enum Writer {
    /// As the bytes that it is.
    Bytes,
    /// As a number.
    Int2,
    /// As a number.
    Int4,
    /// As a number.
    Int8,
    /// By the function.
    Function(Box<pg_sys::FmgrInfo>),
}

impl HashedColumns {
    /// # Safety
    /// Must be called within a transaction.
    unsafe fn new(raw_names: &[u8], names: Vec<String>, types: &[pg_sys::Oid]) -> Self {
        let mut columns: Vec<(String, usize, Writer)> = names
            .into_iter()
            .zip(types)
            .enumerate()
            .map(|(place, (name, oid))| {
                let writer = match *oid {
                    pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID => Writer::Bytes,
                    pg_sys::INT2OID => Writer::Int2,
                    pg_sys::INT4OID => Writer::Int4,
                    pg_sys::INT8OID => Writer::Int8,
                    // SAFETY: see above; what the lookup allocates lives in a context that outlives the session's calls.
                    oid => unsafe {
                        let (mut output, mut is_varlena) = (pg_sys::InvalidOid, false);
                        pg_sys::getTypeOutputInfo(oid, &mut output, &mut is_varlena);
                        let mut function = Box::new(pg_sys::FmgrInfo::default());
                        pg_sys::fmgr_info_cxt(output, &mut *function, pg_sys::TopMemoryContext);
                        Writer::Function(function)
                    },
                };
                (name, place, writer)
            })
            .collect();
        columns.sort_unstable_by(|(one, ..), (other, ..)| one.cmp(other));
        Self {
            names: raw_names.to_vec(),
            types: types.to_vec(),
            columns,
        }
    }

    /// # Safety
    /// The values must be of the types that this was made for.
    unsafe fn add_to(&mut self, hash: &mut blake3::Hasher, values: &[Option<pg_sys::Datum>]) {
        for (name, place, writer) in &mut self.columns {
            let Some(value) = values[*place] else {
                continue;
            };
            add(hash, name.as_bytes());
            match writer {
                Writer::Int2 => add(hash, (value.value() as i16).to_string().as_bytes()),
                Writer::Int4 => add(hash, (value.value() as i32).to_string().as_bytes()),
                Writer::Int8 => add(hash, (value.value() as i64).to_string().as_bytes()),
                // SAFETY: see above; what is allocated goes with the memory of the row.
                Writer::Bytes => unsafe {
                    match plain_bytes(value) {
                        Some(bytes) => add(hash, bytes),
                        None => {
                            let plain = pg_sys::pg_detoast_datum(value.cast_mut_ptr());
                            let plain = pg_sys::Datum::from(plain);
                            add(hash, plain_bytes(plain).unwrap_or_default());
                        }
                    }
                },
                // SAFETY: as above.
                Writer::Function(function) => unsafe {
                    let text = pg_sys::OutputFunctionCall(&mut **function, value);
                    add(hash, CStr::from_ptr(text).to_bytes());
                },
            }
        }
    }
}

thread_local! {
    static HASHED: RefCell<Option<HashedColumns>> = const { RefCell::new(None) };
}

/// `daybook.row_hash(prefix bytea, names text[], row record)`: the prefix, then 128 bits of a blake3 hash over the pairs of name
/// and value that are not null, in the order of the names' bytes; a value counts as its type writes it under pinned settings.
/// Neither the order of columns nor a column that is null makes a difference.
///
/// # Safety
/// To be called by the server alone.
#[unsafe(no_mangle)]
#[pg_guard]
pub unsafe extern "C-unwind" fn daybook_row_hash(
    fcinfo: pg_sys::FunctionCallInfo,
) -> pg_sys::Datum {
    // SAFETY: the server passes a valid call with three arguments of the declared types.
    unsafe {
        let (Some(prefix), Some(names), Some(row)) = (
            argument(fcinfo, 0),
            argument(fcinfo, 1),
            argument(fcinfo, 2),
        ) else {
            (*fcinfo).isnull = true;
            return pg_sys::Datum::from(0);
        };
        let names = pg_sys::Datum::from(pg_sys::pg_detoast_datum(names.cast_mut_ptr()));
        let raw_names = plain_bytes(names).unwrap_or_default();
        let row = Row::new(row);
        // Taken out for the call: an output function may itself compute a fingerprint.
        let mut columns = match HASHED.take() {
            Some(known) if known.names == raw_names && known.types == row.types => known,
            _ => {
                let list = Vec::<Option<String>>::from_datum(names, false).unwrap_or_default();
                let list: Vec<String> = match list.into_iter().collect() {
                    Some(list) => list,
                    None => Error::null_argument("an element of names").raise(),
                };
                if list.len() != row.types.len() {
                    Error::invalid(format!(
                        "{} names for {}",
                        list.len(),
                        counted(row.types.len() as u64, "column")
                    ))
                    .raise();
                }
                HashedColumns::new(raw_names, list, &row.types)
            }
        };
        let mut hash = blake3::Hasher::new();
        columns.add_to(&mut hash, &row.values);
        HASHED.set(Some(columns));
        let mut result = Vec::<u8>::from_datum(prefix, false).unwrap_or_default();
        result.extend_from_slice(&hash.finalize().as_bytes()[..16]);
        result.into_datum().unwrap_or(pg_sys::Datum::from(0))
    }
}

//! The SQL that is installed and the library say the same: every function of `src/api.rs` has exactly one CREATE FUNCTION with the same
//! symbol, arguments and results, and every symbol of the library is used. The few functions that are written against the server's own
//! call convention say their SQL signature in the first line of their documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use daybook_tests::{Client, Database, Session, variable};
use quote::ToTokens;
use syn::{
    Attribute, Expr, ExprLit, FnArg, GenericArgument, Item, ItemFn, Lit, Meta, PathArguments,
    ReturnType, Type,
};

/// A function as the library has it.
struct Exported {
    arguments: Vec<(String, Type)>,
    result: ReturnType,
}

/// A function as the catalog has it.
#[derive(Debug)]
struct Installed {
    signature: String,
    strict: bool,
    returns_set: bool,
    arguments: Vec<(String, String)>,
    columns: Vec<(String, String)>,
    result: String,
}

fn is_exported(attribute: &Attribute) -> bool {
    attribute.path().is_ident("pg_extern")
}

/// The source files of the library, in all directories, with what is in them.
fn sources() -> Vec<(PathBuf, Vec<Item>)> {
    fn collect(directory: &Path, found: &mut Vec<(PathBuf, Vec<Item>)>) {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                found.push((path, syn::parse_file(&text).expect("Rust").items));
            }
        }
    }
    let mut found = Vec::new();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src");
    collect(&directory, &mut found);
    found
}

/// Functions that take the server's call as it is, by their symbol: the SQL signature that their documentation gives.
fn handwritten() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (path, items) in sources() {
        let mut all: Vec<ItemFn> = Vec::new();
        // version_1!(pg_finfo_name) tells the server how `name` is called.
        let mut names: BTreeSet<String> = BTreeSet::new();
        for item in items {
            match item {
                Item::Fn(function) => all.push(function),
                Item::Macro(told) if told.mac.path.is_ident("version_1") => {
                    names.insert(told.mac.tokens.to_string());
                }
                _ => {}
            }
        }
        for function in all {
            let takes_call = function.sig.inputs.iter().any(|argument| match argument {
                FnArg::Typed(argument) => argument
                    .ty
                    .to_token_stream()
                    .to_string()
                    .ends_with("FunctionCallInfo"),
                FnArg::Receiver(_) => false,
            });
            // What only helps such functions is not there for the server.
            if !takes_call || function.sig.abi.is_none() {
                continue;
            }
            let name = function.sig.ident.to_string();
            assert!(
                names.contains(&format!("pg_finfo_{name}")),
                "{path:?}: {name} without pg_finfo_{name}"
            );
            let documentation = documentation(&function);
            let signature = documentation.split('`').nth(1);
            let signature =
                signature.unwrap_or_else(|| panic!("{name} does not say its SQL signature"));
            assert!(found.insert(name, signature.to_owned()).is_none());
        }
    }
    found
}

fn documentation(function: &ItemFn) -> String {
    let lines = function.attrs.iter().filter_map(|attribute| {
        let Meta::NameValue(named) = &attribute.meta else {
            return None;
        };
        match &named.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) if named.path.is_ident("doc") => Some(text.value()),
            _ => None,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn exported() -> BTreeMap<String, Exported> {
    let mut found = BTreeMap::new();
    for (path, items) in sources() {
        let functions = functions_of(items);
        assert!(
            functions.is_empty() || path.ends_with("api.rs"),
            "{path:?} exports {:?}; what SQL sees belongs into api.rs",
            functions
                .iter()
                .map(|f| f.sig.ident.to_string())
                .collect::<Vec<_>>()
        );
        for function in functions {
            let arguments = function.sig.inputs.into_iter().map(|argument| {
                let FnArg::Typed(argument) = argument else {
                    panic!("self is no argument of SQL");
                };
                (argument.pat.to_token_stream().to_string(), *argument.ty)
            });
            let exported = Exported {
                arguments: arguments.collect(),
                result: function.sig.output,
            };
            let symbol = format!("{}_wrapper", function.sig.ident);
            assert!(found.insert(symbol, exported).is_none());
        }
    }
    found
}

fn functions_of(items: Vec<Item>) -> Vec<ItemFn> {
    let mut found = Vec::new();
    for item in items {
        match item {
            Item::Fn(function) if function.attrs.iter().any(is_exported) => found.push(function),
            Item::Mod(module) => {
                found.extend(functions_of(
                    module.content.map_or(Vec::new(), |(_, items)| items),
                ));
            }
            _ => {}
        }
    }
    found
}

fn installed() -> BTreeMap<String, Installed> {
    let database = Database::new("surface");
    let rows = database.session().rows(
        r#"
        SELECT p.prosrc, p.oid::regprocedure, p.proisstrict, p.proretset, format_type(p.prorettype, NULL),
               coalesce((SELECT string_agg(coalesce(p.proargnames[a.n], '') || ' ' || format_type(a.type, NULL), E'\n' ORDER BY a.n)
                         FROM unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY AS a (type, n)
                         WHERE coalesce(p.proargmodes[a.n], 'i') = 'i'), ''),
               coalesce((SELECT string_agg(p.proargnames[a.n] || ' ' || format_type(a.type, NULL), E'\n' ORDER BY a.n)
                         FROM unnest(p.proallargtypes) WITH ORDINALITY AS a (type, n)
                         WHERE p.proargmodes[a.n] IN ('o', 't')), '')
        FROM pg_proc AS p
        JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
        JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'daybook'
        WHERE p.prolang = (SELECT l.oid FROM pg_language AS l WHERE l.lanname = 'c')
        "#,
    );
    let pairs = |text: &str| -> Vec<(String, String)> {
        text.lines()
            .map(|line| {
                let (name, kind) = line.split_once(' ').expect("a name and a type");
                (name.to_owned(), kind.to_owned())
            })
            .collect()
    };
    let mut found = BTreeMap::new();
    for row in rows {
        let [
            symbol,
            signature,
            strict,
            returns_set,
            result,
            arguments,
            columns,
        ] = row.as_slice()
        else {
            panic!("seven columns");
        };
        let function = Installed {
            signature: signature.clone(),
            strict: strict == "t",
            returns_set: returns_set == "t",
            arguments: pairs(arguments),
            columns: pairs(columns),
            result: result.clone(),
        };
        if let Some(other) = found.insert(symbol.clone(), function) {
            panic!(
                "{symbol} is installed twice: {signature} and {}",
                other.signature
            );
        }
    }
    found
}

/// The types of the generic arguments of `name<…>`, if the type is such.
fn generic(kind: &Type, name: &str) -> Option<Vec<Type>> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last()?;
    if last.ident != name {
        return None;
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return Some(Vec::new());
    };
    Some(
        arguments
            .args
            .iter()
            .filter_map(|argument| match argument {
                GenericArgument::Type(kind) => Some(kind.clone()),
                _ => None,
            })
            .collect(),
    )
}

fn one(mut kinds: Vec<Type>) -> Type {
    assert_eq!(kinds.len(), 1);
    kinds.remove(0)
}

/// `Option<T>` as T and whether it was one.
fn optional(kind: &Type) -> (Type, bool) {
    match generic(kind, "Option") {
        Some(inner) => (one(inner), true),
        None => (kind.clone(), false),
    }
}

/// The SQL types that a Rust type may stand for.
fn sql_types(kind: &Type) -> &'static [&'static str] {
    let text = kind.to_token_stream().to_string().replace(' ', "");
    match text.as_str() {
        // Both types of daybook are stored as text is.
        "&str" | "String" | "&'staticstr" => &["text", "daybook.bound", "daybook.column_list"],
        "&CStr" => &["name", "cstring"],
        "pg_sys::Oid" => &["regclass"],
        "bool" => &["boolean"],
        "i32" => &["integer"],
        "i64" => &["bigint"],
        "AnyNumeric" => &["numeric"],
        "JsonB" => &["jsonb"],
        "Date" => &["date"],
        "Timestamp" => &["timestamp without time zone"],
        "TimestampWithTimeZone" => &["timestamp with time zone"],
        "Interval" => &["interval"],
        "Vec<Option<String>>" => &["text[]"],
        "Vec<TimestampWithTimeZone>" => &["timestamp with time zone[]"],
        "()" => &["void"],
        _ => panic!("which SQL type is {text}? Say so in tests/surface.rs"),
    }
}

/// The value and the columns that a function returns: one of the two.
fn result_of(result: &ReturnType) -> (Type, Vec<(String, Type)>) {
    let ReturnType::Type(_, kind) = result else {
        return (syn::parse_quote!(()), Vec::new());
    };
    let inner = match generic(kind, "Raised").or_else(|| generic(kind, "Result")) {
        Some(mut inner) => inner.remove(0),
        None => (**kind).clone(),
    };
    let Some(table) = generic(&inner, "TableIterator") else {
        return (inner, Vec::new());
    };
    let Type::Tuple(columns) = one(table) else {
        panic!("a table of tuples");
    };
    let columns = columns.elems.into_iter().map(|column| {
        let Type::Macro(named) = column else {
            panic!("a column without a name");
        };
        let (name, kind) = named
            .mac
            .parse_body_with(|input: syn::parse::ParseStream| {
                let name: syn::Ident = input.parse()?;
                input.parse::<syn::Token![,]>()?;
                Ok((name, input.parse::<Type>()?))
            })
            .expect("name!(column, type)");
        (name.to_string(), kind)
    });
    (syn::parse_quote!(()), columns.collect())
}

#[test]
fn functions_are_installed_as_they_are_written() {
    let (exported, mut installed) = (exported(), installed());
    let database = Database::new("signatures");
    let mut session = database.session();
    for (symbol, signature) in handwritten() {
        let sql = installed
            .remove(&symbol)
            .unwrap_or_else(|| panic!("{symbol} is not installed"));
        // Names of arguments are left out where the server writes it.
        let (name, arguments) = signature.split_once('(').expect("arguments");
        let arguments = arguments.trim_end_matches(')').split(", ");
        let types = arguments.map(|argument| argument.rsplit(' ').next().unwrap_or(argument));
        let plain = format!("{name}({})", types.collect::<Vec<_>>().join(", "));
        assert_eq!(
            session.value(&format!("SELECT '{plain}'::regprocedure")),
            sql.signature,
            "{symbol}"
        );
        assert!(!sql.strict, "{}: it looks at NULLs itself", sql.signature);
    }
    assert!(
        exported.len() > 10,
        "only {} functions found",
        exported.len()
    );
    assert_eq!(
        exported.keys().collect::<Vec<_>>(),
        installed.keys().collect::<Vec<_>>(),
        "left: symbols of src/api.rs, right: symbols of the installed SQL"
    );
    for (symbol, rust) in &exported {
        let sql = &installed[symbol];
        let name = &sql.signature;
        assert_eq!(
            rust.arguments.len(),
            sql.arguments.len(),
            "{name}: number of arguments"
        );
        for ((rust_name, kind), (sql_name, sql_type)) in rust.arguments.iter().zip(&sql.arguments) {
            let (kind, is_optional) = optional(kind);
            assert!(
                sql_types(&kind).contains(&sql_type.as_str()),
                "{name}: {rust_name} is {} in Rust and {sql_type} in SQL",
                kind.to_token_stream()
            );
            // A STRICT function never sees a NULL; pgrx reads an argument that is no Option without looking.
            assert_eq!(
                is_optional, !sql.strict,
                "{name}: {rust_name}, and STRICT is {}",
                sql.strict
            );
            // Casts and input functions name their arguments by position.
            if !sql_name.is_empty() && rust_name != "empty" {
                assert_eq!(rust_name, sql_name, "{name}: the name of an argument");
            }
            if rust_name == "empty" {
                assert_eq!(sql_name, "on_empty", "{name}: the name of an argument");
            }
        }
        let (value, columns) = result_of(&rust.result);
        assert_eq!(
            sql.returns_set,
            !columns.is_empty(),
            "{name}: one row or many"
        );
        if columns.is_empty() {
            let (value, _) = optional(&value);
            assert!(
                sql_types(&value).contains(&sql.result.as_str()),
                "{name} returns {} in Rust and {} in SQL",
                value.to_token_stream(),
                sql.result
            );
        }
        assert_eq!(
            columns.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            sql.columns.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "{name}: the columns of the result"
        );
        for ((column, kind), (_, sql_type)) in columns.iter().zip(&sql.columns) {
            assert!(
                sql_types(&optional(kind).0).contains(&sql_type.as_str()),
                "{name}: column {column} is {} in Rust and {sql_type} in SQL",
                kind.to_token_stream()
            );
        }
    }
}

/// The symbols that the server looks up in the installed library.
#[test]
fn every_symbol_is_used() {
    let bindir = variable("DAYBOOK_BINDIR");
    let output = Command::new(format!("{bindir}/pg_config"))
        .arg("--pkglibdir")
        .output()
        .expect("pg_config runs");
    let directory = String::from_utf8(output.stdout).expect("UTF-8");
    let library = format!("{}/daybook.so", directory.trim());
    let output = Command::new("nm")
        .args(["-D", "--defined-only", &library])
        .output()
        .expect("nm runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let listing = String::from_utf8(output.stdout).expect("UTF-8");
    let symbols: BTreeSet<&str> = listing
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .filter_map(|symbol| symbol.strip_prefix("pg_finfo_"))
        .collect();
    let installed = installed();
    assert_eq!(
        symbols,
        installed.keys().map(String::as_str).collect(),
        "left: functions of the library, right: functions of the installed SQL"
    );
    let (exported, handwritten) = (exported(), handwritten());
    let written = exported.keys().chain(handwritten.keys());
    assert_eq!(symbols, written.map(String::as_str).collect());
}

/// Arguments of a function with their types and defaults, and the columns of its result.
fn shape(session: &mut Client, signature: &str) -> (Vec<Vec<String>>, String) {
    let arguments = session.rows(&format!(
        "SELECT p.proargnames[n], format_type(p.proargtypes[n - 1], NULL), pg_get_function_arg_default(p.oid, n)
         FROM pg_proc AS p, generate_series(1, p.pronargs) AS n WHERE p.oid = {signature} ORDER BY n"
    ));
    (
        arguments,
        session.value(&format!("SELECT pg_get_function_result({signature})")),
    )
}

/// `historize` has two forms: that of what is registered, and that which registers, too. The options of the second are those of
/// `register_history`, by the same names, of the same types, in the same order, and all of them may be left out.
#[test]
fn both_forms_of_historize_agree() {
    let database = Database::new("forms");
    let mut session = database.session();
    let find = |name: &str, first: &str| {
        format!(
            "(SELECT f.oid FROM pg_proc AS f WHERE f.proname = '{name}' AND f.proargnames[1] = '{first}')"
        )
    };
    assert_eq!(
        session.number("SELECT count(*) FROM pg_proc WHERE proname = 'historize'"),
        2
    );
    let (registered, result) = shape(&mut session, &find("historize", "dst"));
    let (full, full_result) = shape(&mut session, &find("historize", "src"));
    let (registering, _) = shape(&mut session, &find("register_history", "dst"));
    assert_eq!(result, full_result);
    let name_and_type = |argument: &Vec<String>| argument[..2].to_vec();
    let names = |arguments: &[Vec<String>]| -> Vec<Vec<String>> {
        arguments.iter().map(name_and_type).collect()
    };
    // dst, src, pk and the options here; src, dst, pk, the options and the arguments of a run there.
    assert_eq!(names(&full[2..registering.len()]), names(&registering[2..]));
    assert_eq!(
        full[..2].iter().map(|a| a[0].as_str()).collect::<Vec<_>>(),
        ["src", "dst"]
    );
    for option in &full[2..registering.len()] {
        assert!(
            option[2].starts_with("NULL"),
            "{} is remembered, but has the default {}",
            option[0],
            option[2]
        );
    }
    assert_eq!(full[registering.len()..], registered[1..]);
    // No function is installed without a word about it.
    let silent = session.rows(
        "SELECT d.objid::regprocedure FROM pg_depend AS d
         JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'daybook'
         WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND obj_description(d.objid, 'pg_proc') IS NULL",
    );
    assert!(silent.is_empty(), "without a comment: {silent:?}");
}

//! A relation as the catalog describes it: read once, by one query, into one struct that everything else plans from.

use pgrx::pg_sys;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::ident::{Ident, QualifiedName};
use crate::{session, statement};

/// A column of a relation.
#[derive(Debug, Clone, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub type_oid: u32,
    /// Its type's modifier, -1 for none.
    pub type_modifier: i32,
    /// OID of its collation, 0 for none.
    pub collation: u32,
    /// Its type as SQL spells it, with modifiers.
    pub type_name: String,
    /// Whether it takes no NULL.
    pub not_null: bool,
    /// Whether an INSERT that leaves it out fills it.
    pub has_default: bool,
    /// `a` always, `d` by default, or empty.
    pub identity: String,
    /// `s` stored, `v` virtual, or empty.
    pub generated: String,
}

impl Column {
    /// Whether an INSERT that leaves the column out gives it a value by itself.
    pub fn fills_itself(&self) -> bool {
        self.has_default || !self.identity.is_empty() || !self.generated.is_empty()
    }

    /// Whether an INSERT may give the column an instant.
    pub fn takes_times(&self) -> bool {
        let into = pg_sys::Oid::from(self.type_oid);
        // SAFETY: both arrays hold one OID.
        unsafe {
            pg_sys::can_coerce_type(
                1,
                &pg_sys::TIMESTAMPTZOID,
                &into,
                pg_sys::CoercionContext::COERCION_ASSIGNMENT,
            )
        }
    }

    /// Whether an INSERT may not give the column a value.
    pub fn refuses_values(&self) -> bool {
        self.identity == "a" || !self.generated.is_empty()
    }
}

/// A relation, with all that makes it fit, or unfit, to be read or written.
#[derive(Debug, Clone, Deserialize)]
pub struct Relation {
    oid: u32,
    schema: Ident,
    name: Ident,
    /// `pg_class.relkind`.
    pub kind: char,
    persistence: char,
    owner: u32,
    /// Name of the owner.
    pub owner_name: String,
    /// Whether the caller has the owner's role.
    pub caller_owns: bool,
    /// Whether the caller may read it.
    pub caller_selects: bool,
    owner_bypasses_row_security: bool,
    row_security: bool,
    row_security_forced: bool,
    /// The query of a view or materialized view.
    pub view_definition: Option<String>,
    rewrite_rules: Vec<String>,
    has_inheritance_children: bool,
    /// Foreign partitions; the relation itself if it is a foreign table.
    pub foreign_parts: Vec<String>,
    /// Partitioned tables above it and partitions below it.
    pub relatives: Vec<u32>,
    cascading_keys: Vec<String>,
    /// Constraints and triggers that fire at commit.
    pub deferred_triggers: Vec<String>,
    /// Whether a row trigger of the user runs before inserts.
    pub has_before_insert_triggers: bool,
    /// Whether a row trigger of the user runs before deletes.
    pub has_before_delete_triggers: bool,
    /// Whether a row trigger of the user runs before updates.
    pub has_before_update_triggers: bool,
    /// Its columns, in order.
    pub columns: Vec<Column>,
}

impl Relation {
    /// Looks a relation up; 42P01 if it is gone.
    pub fn describe(oid: pg_sys::Oid) -> Result<Self> {
        statement::fetch(
            sql_file!("catalog/relation"),
            &[oid.into(), session::current_role().into()],
        )?
        .ok_or_else(|| no_relation(oid))
    }

    /// The relation as it is now, for the caller for whom it was described: by now another role may be acting.
    pub fn again(&self) -> Result<Self> {
        Ok(Self {
            caller_owns: self.caller_owns,
            caller_selects: self.caller_selects,
            ..Self::describe(self.oid())?
        })
    }

    /// Its OID.
    pub fn oid(&self) -> pg_sys::Oid {
        pg_sys::Oid::from(self.oid)
    }

    /// The role that owns it.
    pub fn owner(&self) -> pg_sys::Oid {
        pg_sys::Oid::from(self.owner)
    }

    /// Schema and name.
    pub fn qualified_name(&self) -> QualifiedName {
        QualifiedName {
            schema: self.schema.clone(),
            name: self.name.clone(),
        }
    }

    /// Schema and name as a person would write them: quoted only where they must be.
    pub fn display_name(&self) -> String {
        self.qualified_name().display_name()
    }

    /// The column of this name.
    pub fn column(&self, name: &Ident) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == *name)
    }

    /// The names of all columns with their types, as evidence.
    pub fn column_list(&self) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .map(|c| format!("{} {}", c.name.as_str(), c.type_name))
            .collect();
        columns.join(", ")
    }

    fn kind_name(&self) -> &'static str {
        match self.kind {
            'r' => "a table",
            'p' => "a partitioned table",
            'v' => "a view",
            'm' => "a materialized view",
            'f' => "a foreign table",
            'i' | 'I' => "an index",
            'S' => "a sequence",
            'c' => "a composite type",
            't' => "a TOAST table",
            _ => "another kind of relation",
        }
    }

    /// Refuses (42501) a caller who does not have the owner's role.
    pub fn require_owner(&self, action: &str) -> Result<()> {
        if self.caller_owns {
            return Ok(());
        }
        Err(Error::privilege(format!(
            "only the owner of \"{}\" may {action}",
            self.display_name()
        ))
        .detail(format!("Its owner is \"{}\".", self.owner_name))
        .hint(format!(
            "Call as \"{0}\", or as a role that is a member of \"{0}\".",
            self.owner_name
        )))
    }

    /// Refuses (42809) what cannot be read from.
    pub fn require_source_kind(&self) -> Result<()> {
        if !"rpvmf".contains(self.kind) {
            return Err(Error::wrong_kind(format!(
                "\"{}\" is {} and cannot be a source",
                self.display_name(),
                self.kind_name()
            ))
            .hint(
                "A source is a table, partitioned table, view, materialized view or foreign table.",
            ));
        }
        self.refuse_temporary()
    }

    /// As [`Self::require_source_kind`], for a source that a call brings itself: what is temporary can be read where nobody else's
    /// rights are used.
    pub fn require_source_kind_for(&self, target: &Self) -> Result<()> {
        if self.persistence == 't' && target.owner() == session::current_role() {
            return Ok(());
        }
        self.require_source_kind()
    }

    /// Whether it holds its rows itself, here or in its partitions.
    pub fn is_table(&self) -> bool {
        "rpm".contains(self.kind)
    }

    /// Whether only this session sees it.
    pub fn is_temporary(&self) -> bool {
        self.persistence == 't'
    }

    fn refuse_temporary(&self) -> Result<()> {
        if self.persistence == 't' {
            return Err(Error::wrong_kind(format!("the source \"{}\" is temporary", self.display_name()))
                .detail("The source is looked up by name at each run, from any session; a temporary relation is seen by one session only.")
                .hint("Use a table or a view that all sessions see."));
        }
        Ok(())
    }

    /// Refuses what cannot be written safely: other kinds (42809), temporary and unlogged tables, inheritance parents and tables
    /// with rewrite rules (0A000), tables that a cascading foreign key refers to (55000), and row security that would hide
    /// rows from the delete (42501).
    pub fn require_safe_target(&self) -> Result<()> {
        let name = self.display_name();
        let unsupported = |message: String| {
            Error::new(pgrx::PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
        };
        let is_ours =
            ["pg_catalog", "information_schema", "daybook"].contains(&self.schema.as_str());
        if !"rpf".contains(self.kind) || is_ours {
            return Err(Error::wrong_kind(format!(
                "\"{name}\" is {} and cannot be a target",
                self.kind_name()
            ))
            .hint("A target is a table, a partitioned table, a partition or a foreign table, and none of the system's or of daybook's own."));
        }
        if self.persistence != 'p' {
            let (kind, why) = match self.persistence {
                't' => (
                    "temporary",
                    "It vanishes with its session, while the record of its intervals stays.",
                ),
                _ => (
                    "unlogged",
                    "After a crash it is empty, while the record of its intervals says that they are loaded.",
                ),
            };
            return Err(unsupported(format!("the target \"{name}\" is {kind}"))
                .detail(why)
                .hint("Use a permanent, logged table."));
        }
        if self.has_inheritance_children {
            return Err(
                unsupported(format!("the target \"{name}\" has inheritance children"))
                    .detail("A delete would reach their rows, an insert would not.")
                    .hint("Use a partitioned table, or register the children one by one."),
            );
        }
        if !self.rewrite_rules.is_empty() {
            return Err(
                unsupported(format!("the target \"{name}\" has rewrite rules"))
                    .detail(format!(
                        "CREATE RULE made them: {}.",
                        self.rewrite_rules.join(", ")
                    ))
                    .hint("Use a trigger instead, or another table."),
            );
        }
        if !self.cascading_keys.is_empty() {
            return Err(Error::prerequisite(format!(
                "deleting from \"{name}\" would change rows of other tables"
            ))
            .detail(format!("Foreign keys refer to it: {}.", self.cascading_keys.join("; ")))
            .hint("Make them ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED, so that rows may be replaced within a transaction, or drop them."));
        }
        if self.row_security && self.row_security_forced && !self.owner_bypasses_row_security {
            return Err(Error::privilege(format!("row security of \"{name}\" could hide rows from the delete"))
                .detail(format!(
                    "It is forced on its owner \"{}\", as whom a run reads and writes; rows that stay hidden would be written twice.",
                    self.owner_name
                ))
                .hint(format!("ALTER TABLE {name} NO FORCE ROW LEVEL SECURITY;")));
        }
        Ok(())
    }
}

impl Relation {
    /// Refuses (42501) a caller who is not the owner where triggers or constraints of the target fire at commit.
    pub fn require_nothing_at_commit(&self) -> Result<()> {
        if self.owner() == session::current_role() || self.deferred_triggers.is_empty() {
            return Ok(());
        }
        Err(Error::privilege(format!("only \"{}\" itself can write \"{}\" here", self.owner_name, self.display_name()))
            .detail(format!(
                "What another role runs for the owner runs restricted, where nothing can fire at commit, and these do: {}.",
                self.deferred_triggers.join(", ")
            ))
            .hint(format!("SET ROLE {}; or make them INITIALLY IMMEDIATE.", self.owner_name)))
    }

    /// Refuses (42501) a source that the owner of a target, as whom every run reads, may not read.
    pub fn require_readable_by_owner_of(&self, target: &Self) -> Result<()> {
        let readable: Option<bool> = statement::fetch(
            sql_file!("catalog/may_read"),
            &[self.oid().into(), target.owner().into()],
        )?;
        if readable == Some(true) {
            return Ok(());
        }
        let (owner, source) = (&target.owner_name, self.display_name());
        Err(Error::privilege(format!(
            "\"{owner}\", the owner of \"{}\", may not read \"{source}\"",
            target.display_name()
        ))
        .detail("A run reads and writes with the rights of the target's owner, whoever calls it.")
        .hint(format!(
            "GRANT SELECT ON {source} TO {};",
            pgrx::spi::quote_identifier(owner)
        )))
    }
}

#[derive(Deserialize)]
struct Rights {
    name: String,
    missing: Vec<String>,
}

/// Refuses (42501) a caller who has neither the rights on a relation nor its owner's role; 42P01 if there is no such relation.
pub fn require_rights(relation: pg_sys::Oid, rights: &[&str]) -> Result<()> {
    let rights: Vec<String> = rights.iter().map(|right| (*right).to_owned()).collect();
    let found: Rights = statement::fetch(
        sql_file!("catalog/missing_rights"),
        &[
            relation.into(),
            session::current_role().into(),
            rights.into(),
        ],
    )?
    .ok_or_else(|| no_relation(relation))?;
    let Rights { name, missing } = found;
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(", ");
    Err(Error::privilege(format!(
        "permission denied: this run needs {missing} on \"{name}\""
    ))
    .hint(format!("GRANT {missing} ON {name} TO the_role;")))
}

fn no_relation(oid: pg_sys::Oid) -> Error {
    Error::new(
        pgrx::PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
        format!(
            "the relation with OID {} was dropped meanwhile",
            oid.to_u32()
        ),
    )
    .hint("Look whether it stands under its name again, and repeat the call.")
}

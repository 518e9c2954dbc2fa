//! The authorizer: what is not on a list is denied.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// The functions that may be called, as SQLite spells them. Left out are those that read files or the program's state,
/// that tell of SQLite itself, and `printf` and `format`, which can write any number of characters without a look at
/// the clock.
const FUNCTIONS: &str = "-> ->> abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil ceiling char coalesce concat \
    concat_ws cos cosh count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp \
    first_value floor glob group_concat hex highlight if ifnull iif instr json json_array json_array_insert \
    json_array_length json_error_position json_extract json_group_array json_group_object json_insert json_object \
    json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid jsonb jsonb_array \
    jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch \
    jsonb_remove jsonb_replace jsonb_set julianday lag last_value lead length like likelihood likely ln log log10 log2 \
    lower ltrim match matchinfo max median min mod nth_value ntile nullif octet_length offsets percent_rank percentile percentile_cont \
    pi pow power quote radians random randomblob rank replace round row_number rtrim sign sin sinh \
    snippet soundex sqrt strftime string_agg substr substring subtype sum tan tanh time timediff total trim trunc typeof \
    unhex unicode unistr unixepoch unlikely upper zeroblob";

/// Table-valued functions that read nothing but their arguments.
const TABLE_FUNCTIONS: [&str; 4] = ["json_each", "json_tree", "jsonb_each", "jsonb_tree"];

/// The rules for one connection, and what it met.
pub(crate) struct Policy {
    functions: HashSet<&'static str>,
    /// Tables and views that may be read.
    readable: HashSet<String>,
    /// Everything else that has a name in the database or in SQLite.
    unreadable: HashSet<String>,
    hidden: HashSet<String>,
    /// Whether names of hidden tables can only be those of common table expressions.
    hidden_are_local: AtomicBool,
    met: Mutex<Met>,
}

/// What the authorizer met since it was last looked at.
#[derive(Default)]
pub(crate) struct Met {
    /// Why it denied something first.
    pub(crate) denial: Option<String>,
    /// Whether that was a hidden table, and by which name.
    pub(crate) hidden: Option<String>,
}

impl Policy {
    /// All names are in lower case.
    pub(crate) fn new(readable: HashSet<String>, unreadable: HashSet<String>, hidden: HashSet<String>) -> Self {
        Self {
            functions: FUNCTIONS.split_whitespace().collect(),
            readable,
            unreadable,
            hidden,
            hidden_are_local: AtomicBool::new(false),
            met: Mutex::default(),
        }
    }

    /// What was met since the last call.
    pub(crate) fn take_met(&self) -> Met {
        std::mem::take(&mut *self.met.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says whether the names of hidden tables are known to be those of common table expressions.
    pub(crate) fn set_hidden_are_local(&self, local: bool) {
        self.hidden_are_local.store(local, Ordering::Relaxed);
    }

    fn deny(&self, reason: String, hidden: Option<&str>) -> Authorization {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        if met.denial.is_none() {
            met.denial = Some(reason);
            met.hidden = hidden.map(str::to_owned);
        }
        Authorization::Deny
    }

    fn read(&self, table: &str, column: &str, database: Option<&str>) -> Authorization {
        let name = table.to_ascii_lowercase();
        let hidden = self.hidden.contains(&name);
        let function = TABLE_FUNCTIONS.contains(&name.as_str());
        if database.is_none_or(|database| database == "main") && !hidden && (self.readable.contains(&name) || function)
        {
            return Authorization::Allow;
        }
        // A table of which no column is read comes with an empty column and the name as it was written: also the name
        // of a common table expression, which may be any.
        let built_in = name.starts_with("sqlite_") || name.starts_with("pragma_") || self.unreadable.contains(&name);
        let local = !built_in && !function && (!hidden || self.hidden_are_local.load(Ordering::Relaxed));
        if column.is_empty() && database.is_none() && local {
            return Authorization::Allow;
        }
        self.deny(format!("{table} cannot be read"), hidden.then_some(table))
    }

    /// The answer to SQLite's question whether a statement may do something.
    pub(crate) fn decide(&self, context: &AuthContext<'_>) -> Authorization {
        match context.action {
            AuthAction::Select | AuthAction::Recursive => Authorization::Allow,
            AuthAction::Read { table_name, column_name } => self.read(table_name, column_name, context.database_name),
            AuthAction::Function { function_name } => {
                if self.functions.contains(function_name.to_ascii_lowercase().as_str()) {
                    Authorization::Allow
                } else {
                    self.deny(format!("the function {function_name} is not allowed"), None)
                }
            }
            // Full-text search asks it of itself; it is a number that says whether the file has changed.
            AuthAction::Pragma { pragma_name: "data_version", pragma_value: None } => Authorization::Allow,
            AuthAction::Insert { .. } | AuthAction::Update { .. } | AuthAction::Delete { .. } => {
                self.deny("the statement writes, and only reading is allowed".to_owned(), None)
            }
            _ => self.deny("the statement does more than read".to_owned(), None),
        }
    }
}

//! What is in a database by name, and what of it is hidden.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;

use crate::error::{QueryError, classify};
use crate::sandbox::Clock;
use crate::statement::{Token, Tokens, is_word};

/// The modules whose virtual tables may be read: full-text search and R-trees. Others tell of the whole database.
const MODULES: [&str; 7] = ["fts3", "fts4", "fts5", "fts5vocab", "rtree", "rtree_i32", "geopoly"];

/// How the tables end in which those modules keep rows of a virtual table.
const SHADOWS: [&str; 11] =
    ["_config", "_content", "_data", "_docsize", "_idx", "_node", "_parent", "_rowid", "_segdir", "_segments", "_stat"];

/// Time to find out what a view reads that has the name of a hidden table in its text.
const VIEW_TIME: Duration = Duration::from_millis(50);
/// The same for all of them.
const VIEWS_TIME: Duration = Duration::from_millis(500);

/// Views that one is expanded into at most where it is found out what it reads: SQLite expands views before anything can stop it.
const EXPANDED: usize = 5000;

/// What kind of thing a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Table,
    Virtual {
        module: String,
    },
    /// A table in which a virtual table keeps its rows.
    Shadow,
    View,
}

/// A table or a view.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// As it was created.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) sql: String,
    /// Its place in the order of creation.
    place: usize,
}

/// The tables and views of a database, in the order of their creation.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    /// Those that may be seen.
    pub(crate) visible: Vec<Object>,
    /// Names in lower case: those to be hidden and those that read them.
    pub(crate) hidden: HashSet<String>,
    /// Names in lower case that are neither visible nor hidden: what SQLite keeps for itself, modules.
    pub(crate) internal: HashSet<String>,
    /// Names to be hidden that are not there.
    pub(crate) not_there: Vec<String>,
    /// Visible views whose text, or that of views in it, has the name of something hidden.
    suspects: BTreeSet<String>,
}

/// A name as a statement has it: between double quotes, those in it doubled.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as a statement has it: between single quotes, those in it doubled.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Catalogue {
    /// Reads the names; `hide` are the names to be hidden, in any case. Sets and removes the connection's authorizer.
    pub(crate) fn read(connection: &mut Connection, clock: &Clock, hide: &[String]) -> Result<Self, QueryError> {
        let failed = |error: rusqlite::Error| match classify(&error) {
            // A message about the schema alone, as no statement was given yet.
            QueryError::Refused { reason } => QueryError::failed(reason),
            other => other,
        };
        let objects = objects(connection, failed)?;
        // They are opened now, as they prepare statements that write, which the sandbox would deny.
        for object in objects.values().filter(|object| matches!(object.kind, Kind::Virtual { .. })) {
            let _ = connection.prepare(&format!("SELECT * FROM main.{}", quote(&object.name)));
        }
        let mut hidden: HashSet<String> = hide.iter().map(|name| name.to_ascii_lowercase()).collect();
        let not_there = hide.iter().filter(|name| !objects.contains_key(&name.to_ascii_lowercase())).cloned().collect();
        let to_hide = hidden.clone();
        let named = Named::new(&objects, &to_hide);
        let mut reads = BTreeMap::new();
        let start = Instant::now();
        let suspects = loop {
            let suspects = named.with(&hidden);
            // Those that are expanded into few first, so that others do not take their time.
            let mut views: Vec<&str> = suspects.iter().copied().filter(|view| !hidden.contains(*view)).collect();
            views.sort_by_key(|view| (named.size(view), *view));
            for view in views {
                if !reads.contains_key(view) {
                    let can_be_read = named.size(view) <= EXPANDED && start.elapsed() < VIEWS_TIME;
                    let name = objects.get(view).filter(|_| can_be_read).map(|object| object.name.as_str());
                    let read = name.map(|name| tables_read(connection, clock, name)).transpose().map_err(failed)?;
                    reads.insert(view, read.flatten());
                }
            }
            let mut more = Vec::new();
            for (key, object) in objects.iter().filter(|(key, _)| !hidden.contains(*key)) {
                if object.kind != Kind::View {
                    more.extend(is_touched(key, object, &objects, &hidden).then(|| key.clone()));
                } else if suspects.contains(key.as_str()) {
                    // What cannot be read may have its name for any reason.
                    let read = reads.get(key.as_str()).and_then(Option::as_ref);
                    let touched = read.is_none_or(|read| !read.is_disjoint(&hidden));
                    more.extend(touched.then(|| key.clone()));
                }
            }
            if more.is_empty() {
                break suspects.into_iter().filter(|view| !hidden.contains(*view)).map(str::to_owned).collect();
            }
            hidden.extend(more);
        };
        let modules = names(connection, "SELECT name FROM pragma_module_list").map_err(failed)?;
        let mut internal: HashSet<String> = modules.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        let mut visible = Vec::new();
        for (key, object) in objects {
            let readable = match &object.kind {
                Kind::Virtual { module } => MODULES.contains(&module.to_ascii_lowercase().as_str()),
                _ => !key.starts_with("sqlite_"),
            };
            if hidden.contains(&key) {
                continue;
            } else if readable {
                internal.remove(&key);
                visible.push(object);
            } else {
                internal.insert(key);
            }
        }
        visible.sort_by_key(|object| object.place);
        Ok(Self { visible, hidden, internal, not_there, suspects })
    }

    /// The visible views that may need something hidden.
    pub(crate) fn suspects(&self) -> impl Iterator<Item = &Object> {
        self.visible.iter().filter(|object| self.suspects.contains(&object.name.to_ascii_lowercase()))
    }

    /// Hides the views that need a hidden table in a database without these: SQLite leaves out what cannot change the rows
    /// of a view before its authorizer tells what is read.
    pub(crate) fn hide_views_without_tables(&mut self, outline: &Connection) {
        let lacking = |object: &Object| {
            let prepared = outline.prepare(&format!("SELECT * FROM main.{}", quote(&object.name)));
            prepared.is_err_and(|error| lacks_table(&classify(&error), &self.hidden))
        };
        let lacking: Vec<String> =
            self.suspects().filter(|view| lacking(view)).map(|view| view.name.to_ascii_lowercase()).collect();
        self.visible.retain(|object| !lacking.contains(&object.name.to_ascii_lowercase()));
        self.hidden.extend(lacking);
    }

    /// What of the visible some statements name, and what views among that name, in the order of creation.
    pub(crate) fn named_in<'s>(&self, statements: impl IntoIterator<Item = &'s str>) -> Vec<&Object> {
        let keys: Vec<String> = self.visible.iter().map(|object| object.name.to_ascii_lowercase()).collect();
        let names = Names::new(keys.iter().map(String::as_str));
        let places: HashMap<&str, usize> = keys.iter().enumerate().map(|(place, key)| (key.as_str(), place)).collect();
        let mut found = BTreeSet::new();
        let mut left: Vec<&str> = statements.into_iter().flat_map(|sql| names.named_in(sql)).collect();
        while let Some(name) = left.pop() {
            let Some(&place) = places.get(name) else { continue };
            if found.insert(place) && self.visible[place].kind == Kind::View {
                left.extend(names.named_in(&self.visible[place].sql));
            }
        }
        found.into_iter().map(|place| &self.visible[place]).collect()
    }

    /// Names in lower case of what may be read.
    pub(crate) fn readable(&self) -> HashSet<String> {
        self.visible.iter().map(|object| object.name.to_ascii_lowercase()).collect()
    }
}

/// Whether a table would tell of a hidden one.
fn is_touched(key: &str, object: &Object, objects: &BTreeMap<String, Object>, hidden: &HashSet<String>) -> bool {
    let keeps = |shadow: &str, table: &str| shadow.strip_prefix(table).is_some_and(|end| SHADOWS.contains(&end));
    match &object.kind {
        Kind::Table | Kind::View => false,
        Kind::Shadow => hidden.iter().any(|table| {
            keeps(key, table) && objects.get(table).is_some_and(|owner| matches!(owner.kind, Kind::Virtual { .. }))
        }),
        Kind::Virtual { .. } => mentions(&object.sql, hidden) || hidden.iter().any(|shadow| keeps(shadow, key)),
    }
}

/// Whether an error says that there is no table with the name of a hidden one.
pub(crate) fn lacks_table(error: &QueryError, hidden: &HashSet<String>) -> bool {
    let message = error.to_string();
    message.split_once("no such table").is_some_and(|(_, name)| mentions(name, hidden))
}

/// Whether SQL has one of the names in any quotes, also within a text, as arguments of virtual tables have them.
pub(crate) fn mentions(sql: &str, names: &HashSet<String>) -> bool {
    !Names::new(names.iter().map(String::as_str)).named_in(sql).is_empty()
}

/// Names in lower case, looked for in SQL.
struct Names<'n> {
    words: HashSet<&'n str>,
    /// Those that are no words.
    others: Vec<&'n str>,
}

impl<'n> Names<'n> {
    fn new(names: impl Iterator<Item = &'n str>) -> Self {
        let (words, others): (Vec<&str>, _) = names.partition(|name| name.chars().all(is_word));
        Self { words: words.into_iter().collect(), others }
    }

    /// Those that SQL has in any quotes, also within a text, as often as it does.
    fn named_in(&self, sql: &str) -> Vec<&'n str> {
        let lower = sql.to_ascii_lowercase();
        // SQLite takes the mark of the order of bytes before a name for a space.
        let words = lower.split(|letter| !is_word(letter)).map(|word| word.trim_start_matches('\u{feff}'));
        let mut found: Vec<&str> = words.filter_map(|word| self.words.get(word).copied()).collect();
        let has = |name: &&&str| {
            lower.contains(**name) || lower.contains(&name.replace('"', "\"\"")) || {
                ['\'', '`'].iter().any(|quote| lower.contains(&name.replace(*quote, &format!("{quote}{quote}"))))
            }
        };
        found.extend(self.others.iter().filter(has));
        found
    }
}

/// Which views have which names in their text.
struct Named<'o> {
    /// By name the views that have it.
    by_name: HashMap<&'o str, Vec<&'o str>>,
    /// What views are expanded into; not those that are expanded into themselves.
    sizes: HashMap<&'o str, usize>,
}

impl<'o> Named<'o> {
    fn new(objects: &'o BTreeMap<String, Object>, hidden: &'o HashSet<String>) -> Self {
        let names = Names::new(objects.keys().chain(hidden).map(String::as_str));
        let is_view = |name: &str| objects.get(name).is_some_and(|object| object.kind == Kind::View);
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        // By view how many of those in it are not counted yet, and what it is expanded into.
        let (mut left, mut sizes) = (HashMap::new(), HashMap::new());
        for (key, object) in objects.iter().filter(|(_, object)| object.kind == Kind::View) {
            let mut within = names.named_in(&object.sql);
            // Its own name is in its definition.
            if let Some(own) = within.iter().position(|name| name == key) {
                within.remove(own);
            }
            left.insert(key.as_str(), within.iter().filter(|name| is_view(name)).count());
            sizes.insert(key.as_str(), 1_usize);
            within.into_iter().for_each(|name| by_name.entry(name).or_default().push(key));
        }
        let mut counted: Vec<&str> = left.iter().filter(|(_, count)| **count == 0).map(|(view, _)| *view).collect();
        let mut found = HashMap::new();
        while let Some(view) = counted.pop() {
            let size = sizes[view];
            found.insert(view, size);
            for outer in by_name.get(view).into_iter().flatten() {
                sizes.entry(outer).and_modify(|of| *of = of.saturating_add(size));
                let count = left.entry(outer).or_default();
                *count = count.saturating_sub(1);
                if *count == 0 {
                    counted.push(outer);
                }
            }
        }
        Self { by_name, sizes: found }
    }

    /// How many views one is expanded into, itself counted; without end where it is in itself.
    fn size(&self, view: &str) -> usize {
        self.sizes.get(view).copied().unwrap_or(usize::MAX)
    }

    /// The views whose text has one of some names, or that of such a view.
    fn with(&self, names: &HashSet<String>) -> HashSet<&'o str> {
        let of = |name: &str| self.by_name.get(name).into_iter().flatten().copied();
        let mut left: Vec<&str> = names.iter().flat_map(|name| of(name)).collect();
        let mut found = HashSet::new();
        while let Some(view) = left.pop() {
            if found.insert(view) {
                left.extend(of(view));
            }
        }
        found
    }
}

fn names(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let found = statement.query_map([], |row| row.get(0))?;
    found.collect()
}

/// Tables and views by their names in lower case; SQLite keeps names apart by ASCII case alone.
fn objects(
    connection: &Connection,
    failed: impl Fn(rusqlite::Error) -> QueryError + Copy,
) -> Result<BTreeMap<String, Object>, QueryError> {
    let mut statement = connection
        .prepare("SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid")
        .map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let mut objects = BTreeMap::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let text = |column: usize| match row.get_ref(column) {
            Ok(ValueRef::Text(bytes)) => String::from_utf8(bytes.to_vec()).ok(),
            Ok(ValueRef::Null) => Some(String::new()),
            _ => None,
        };
        // The bindings take names for UTF-8.
        let (Some(kind), Some(name), Some(sql)) = (text(0), text(1), text(2)) else {
            return Err(QueryError::failed("the schema has a name or a definition that is not UTF-8"));
        };
        let kind = match module(&sql) {
            Some(module) => Kind::Virtual { module },
            None if kind == "view" => Kind::View,
            None => Kind::Table,
        };
        objects.insert(name.to_ascii_lowercase(), Object { name, kind, sql, place: objects.len() });
    }
    let tables: Vec<String> = objects
        .iter()
        .filter(|(_, object)| matches!(object.kind, Kind::Virtual { .. }))
        .map(|(key, _)| key.clone())
        .collect();
    for name in tables.iter().flat_map(|table| SHADOWS.iter().map(move |end| format!("{table}{end}"))) {
        if let Some(object) = objects.get_mut(&name).filter(|object| object.kind == Kind::Table) {
            object.kind = Kind::Shadow;
        }
    }
    Ok(objects)
}

/// The module of a virtual table.
fn module(sql: &str) -> Option<String> {
    let mut tokens = Tokens::of(sql);
    let mut word =
        |expected: &str| matches!(tokens.next(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(expected));
    if !(word("create") && word("virtual") && word("table")) {
        return None;
    }
    // The name may be "using".
    tokens.next();
    tokens.find(|token| matches!(token, Token::Word(word) if word.eq_ignore_ascii_case("using")));
    match tokens.next() {
        Some(Token::Word(module) | Token::Quoted(module)) => Some(module.to_owned()),
        _ => Some(String::new()),
    }
}

/// Which tables and views a view reads, also through other views, as SQLite's authorizer tells it; none where SQLite
/// cannot tell, or not soon.
fn tables_read(connection: &mut Connection, clock: &Clock, view: &str) -> rusqlite::Result<Option<HashSet<String>>> {
    let seen: Arc<Mutex<HashSet<String>>> = Arc::default();
    let record = Arc::clone(&seen);
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        if let AuthAction::Read { table_name, .. } = context.action {
            record.lock().unwrap_or_else(PoisonError::into_inner).insert(table_name.to_ascii_lowercase());
        }
        Authorization::Allow
    }))?;
    let read = clock.within(VIEW_TIME, || connection.prepare(&format!("SELECT * FROM main.{}", quote(view))).is_ok());
    connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    Ok(read.then(|| std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner))))
}

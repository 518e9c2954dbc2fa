//! A schema from the text of its definitions: `CREATE TABLE`, `CREATE VIEW`, `ALTER TABLE ... ADD`.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use sqlparser::ast::{
    AlterTableOperation, ColumnDef, ColumnOption, CreateTable, CreateView, Expr, ForeignKeyConstraint, Ident,
    IndexColumn, Statement, TableConstraint,
};
use sqlparser::dialect::{
    Dialect, DuckDbDialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect, SnowflakeDialect,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::lineage::last;
use super::problem::Problem;
use crate::schema::{ColumnInfo, ForeignKey, Schema, Table, View};

/// Whose SQL a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SqlDialect {
    /// What most databases have in common.
    #[default]
    Generic,
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// DuckDB.
    Duckdb,
    /// Snowflake.
    Snowflake,
}

/// Words and signs of one part of a list at most, and selections that are put together: the parser makes a tree as deep of a chain
/// of operators, which its limit of nesting does not count.
const CHAINED: usize = 8000;
const COMBINED: usize = 2000;

/// Whether a statement would be parsed into too deep a tree, with what of it is too long.
pub(super) fn too_deep(tokens: &[TokenWithSpan]) -> Option<String> {
    let (mut chained, mut combined) = (vec![0_usize], 0_usize);
    for token in tokens {
        match &token.token {
            Token::Whitespace(_) => {}
            Token::LParen => chained.push(0),
            Token::RParen if chained.len() > 1 => drop(chained.pop()),
            Token::Comma => chained.last_mut().into_iter().for_each(|count| *count = 0),
            other => {
                let combines =
                    |word: &str| ["union", "intersect", "except"].iter().any(|of| word.eq_ignore_ascii_case(of));
                combined += usize::from(matches!(other, Token::Word(word) if combines(&word.value)));
                let count = chained.last_mut()?;
                *count += 1;
                if *count > CHAINED {
                    return Some(format!("a part of it has more than {CHAINED} words and signs in one expression"));
                }
            }
        }
    }
    (combined > COMBINED).then(|| format!("it puts more than {COMBINED} selections together"))
}

impl SqlDialect {
    /// The tokens of SQL.
    ///
    /// # Errors
    /// A text that cannot be cut into tokens, or that would be parsed into too deep a tree.
    pub(super) fn tokens(self, sql: &str) -> Result<Vec<TokenWithSpan>, String> {
        let tokens =
            Tokenizer::new(&*self.parser(), sql).tokenize_with_location().map_err(|error| error.to_string())?;
        too_deep(&tokens).map_or(Ok(tokens), Err)
    }

    /// Of all dialects the one with the fewest `failures`, of several the first.
    pub fn that_reads_most(failures: impl Fn(Self) -> usize) -> Self {
        let all = [Self::Generic, Self::Sqlite, Self::Postgres, Self::Mysql, Self::Duckdb, Self::Snowflake];
        let mut best = (usize::MAX, Self::Generic);
        for dialect in all {
            let failures = failures(dialect);
            if failures < best.0 {
                best = (failures, dialect);
            }
            if failures == 0 {
                break;
            }
        }
        best.1
    }

    pub(crate) fn parser(self) -> Box<dyn Dialect> {
        match self {
            Self::Generic => Box::new(GenericDialect {}),
            Self::Sqlite => Box::new(SQLiteDialect {}),
            Self::Postgres => Box::new(PostgreSqlDialect {}),
            Self::Mysql => Box::new(MySqlDialect {}),
            Self::Duckdb => Box::new(DuckDbDialect {}),
            Self::Snowflake => Box::new(SnowflakeDialect),
        }
    }
}

/// A text that is not SQL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the definitions are not SQL of this dialect: {message}")]
pub struct DdlError {
    /// What is wrong, and where.
    pub message: String,
}

/// How deep a definition may be nested.
const NESTING: usize = 100;

impl Schema {
    /// The tables and views that a text defines, in the order of the text; names as written, without those of databases
    /// before them. `CREATE TABLE ... AS` counts as a view. The columns of views are left empty, as the text does not
    /// have them; [`super::SchemaGraph`] finds them. Statements that define nothing are passed over.
    ///
    /// A definition that cannot be parsed, or changes a table that is not there, is left out and told of.
    ///
    /// # Errors
    /// A text that cannot be cut into statements, such as one with a quote that is never closed.
    pub fn from_ddl(text: &str, dialect: SqlDialect) -> Result<(Self, Vec<Problem>), DdlError> {
        let parser = dialect.parser();
        let tokens = Tokenizer::new(&*parser, text)
            .tokenize_with_location()
            .map_err(|error| DdlError { message: error.to_string() })?;
        let (mut definitions, mut altered) = (Definitions::default(), Vec::new());
        for tokens in tokens.split(|token| token.token == Token::SemiColon) {
            let words: Vec<&TokenWithSpan> =
                tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).collect();
            let Some(first) = words.first() else { continue };
            let is = |at: usize, word: &str| matches!(words.get(at).map(|t| &t.token), Some(Token::Word(w)) if w.value.eq_ignore_ascii_case(word));
            let defines = (0..6).any(|at| is(at, "table") || is(at, "view"));
            if !(is(0, "create") && defines || is(0, "alter") && is(1, "table")) {
                continue;
            }
            let line = first.span.start.line;
            if let Some(message) = too_deep(tokens) {
                definitions.problems.push(Problem::Definition { line, message });
                continue;
            }
            let parsed = Parser::new(&*parser)
                .with_recursion_limit(NESTING)
                .with_tokens_with_locations(tokens.to_vec())
                .parse_statement();
            match parsed {
                // Files of one schema come by name: what they alter may stand behind it.
                Ok(statement @ Statement::AlterTable(_)) => altered.push((statement, line)),
                Ok(statement) => definitions.add(statement, line),
                // What is altered may be anything, such as a partition or an owner.
                Err(_) if is(0, "alter") => {}
                Err(error) => definitions.problems.push(Problem::Definition { line, message: error.to_string() }),
            }
        }
        altered.into_iter().for_each(|(statement, line)| definitions.add(statement, line));
        Ok(definitions.finish())
    }
}

#[derive(Default)]
struct Definitions {
    tables: Vec<Table>,
    views: Vec<View>,
    problems: Vec<Problem>,
}

impl Definitions {
    fn add(&mut self, statement: Statement, line: u64) {
        match statement {
            Statement::CreateTable(table) if table.query.is_some() => {
                self.views.push(View {
                    name: last(&table.name),
                    schema: None,
                    columns: Vec::new(),
                    sql: Some(Statement::CreateTable(table).to_string()),
                    problem: None,
                });
            }
            Statement::CreateTable(table) => self.table(table),
            Statement::CreateView(view) => self.view(view),
            Statement::AlterTable(alter) => {
                let name = last(&alter.name);
                let Some(table) = self.tables.iter_mut().find(|table| table.name.eq_ignore_ascii_case(&name)) else {
                    let message = format!("ALTER TABLE of {name:?}, which is not defined");
                    return self.problems.push(Problem::Definition { line, message });
                };
                for operation in alter.operations {
                    match operation {
                        AlterTableOperation::AddConstraint { constraint, .. } => constrain(table, constraint),
                        AlterTableOperation::AddColumn { column_def, .. } => add_column(table, column_def),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn view(&mut self, view: CreateView) {
        let column = |name: String| ColumnInfo { name, ..ColumnInfo::default() };
        self.views.push(View {
            name: last(&view.name),
            schema: None,
            columns: view.columns.iter().map(|named| column(named.name.value.clone())).collect(),
            sql: Some(Statement::CreateView(view).to_string()),
            problem: None,
        });
    }

    fn table(&mut self, definition: CreateTable) {
        let mut table = Table { name: last(&definition.name), ..Table::default() };
        for column in definition.columns {
            add_column(&mut table, column);
        }
        for constraint in definition.constraints {
            constrain(&mut table, constraint);
        }
        self.tables.push(table);
    }

    /// Foreign keys with the names of the tables they lead to, once all are known.
    fn finish(self) -> (Schema, Vec<Problem>) {
        let mut schema = Schema { tables: self.tables, views: self.views };
        schema.settle_foreign_keys();
        (schema, self.problems)
    }
}

impl Schema {
    /// Spells what foreign keys name as the tables spell it, gives those that name no columns the primary key's, and
    /// marks those that lead nowhere.
    pub fn settle_foreign_keys(&mut self) {
        // As written, else the first one in any case.
        let mut known: HashMap<String, (String, Vec<String>, Vec<String>)> = HashMap::new();
        for table in &self.tables {
            let columns: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
            let of = (table.name.clone(), columns, table.primary_key.clone());
            known.entry(format!("={}", table.name)).or_insert_with(|| of.clone());
            known.entry(table.name.to_lowercase()).or_insert(of);
        }
        for table in &mut self.tables {
            let own: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
            for key in &mut table.foreign_keys {
                spell(&mut key.columns, &own);
                let found = known.get(&format!("={}", key.table)).or_else(|| known.get(&key.table.to_lowercase()));
                let Some((name, columns, primary)) = found else {
                    key.dangling = true;
                    continue;
                };
                key.table.clone_from(name);
                if key.referenced.is_empty() {
                    key.referenced.clone_from(primary);
                }
                spell(&mut key.referenced, columns);
                key.dangling = key.columns.len() != key.referenced.len()
                    || key.referenced.iter().any(|to| !columns.contains(to))
                    || key.columns.iter().any(|from| !own.contains(from));
            }
        }
    }
}

/// Names as the table spells them, where it has them.
fn spell(names: &mut [String], known: &[String]) {
    for name in names {
        if let Some(spelled) = known.iter().find(|known| known.to_lowercase() == name.to_lowercase()) {
            name.clone_from(spelled);
        }
    }
}

fn add_column(table: &mut Table, column: ColumnDef) {
    let mut info = ColumnInfo {
        name: column.name.value.clone(),
        declared_type: column.data_type.to_string(),
        ..ColumnInfo::default()
    };
    for option in column.options {
        match option.option {
            ColumnOption::NotNull => info.not_null = true,
            ColumnOption::PrimaryKey(_) => table.primary_key = vec![info.name.clone()],
            ColumnOption::Generated { generation_expr: Some(_), .. } => info.generated = true,
            ColumnOption::ForeignKey(key) => {
                table
                    .foreign_keys
                    .push(foreign_key(ForeignKeyConstraint { columns: vec![column.name.clone()], ..key }));
            }
            _ => {}
        }
    }
    table.columns.push(info);
}

fn constrain(table: &mut Table, constraint: TableConstraint) {
    match constraint {
        TableConstraint::PrimaryKey(key) => {
            table.primary_key = key.columns.iter().filter_map(indexed).collect();
            let own: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
            spell(&mut table.primary_key, &own);
        }
        TableConstraint::ForeignKey(key) => table.foreign_keys.push(foreign_key(key)),
        _ => {}
    }
}

fn indexed(column: &IndexColumn) -> Option<String> {
    match &column.column.expr {
        Expr::Identifier(name) => Some(name.value.clone()),
        Expr::CompoundIdentifier(names) => names.last().map(|name| name.value.clone()),
        _ => None,
    }
}

fn foreign_key(key: ForeignKeyConstraint) -> ForeignKey {
    let values = |names: Vec<Ident>| names.into_iter().map(|name| name.value).collect();
    ForeignKey {
        columns: values(key.columns),
        table: last(&key.foreign_table),
        referenced: values(key.referred_columns),
        dangling: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_chains_that_parse_into_too_deep_a_tree_are_told() {
        let views = [
            format!("SELECT {}1 AS x FROM t", "a+".repeat(22_000)),
            format!("SELECT {}1 AS x FROM t", "f(1,2) || ".repeat(22_000)),
            format!("SELECT a FROM t WHERE {}a", "a AND ".repeat(22_000)),
            format!("SELECT a, a FROM t{}", " UNION ALL SELECT a, a FROM t".repeat(17_000)),
            format!("SELECT a FROM t WHERE a IN ({}1)", "1, ".repeat(22_000)),
        ];
        for (view, is_read) in views.iter().zip([false, false, false, false, true]) {
            let text = format!("CREATE TABLE t (a int); CREATE VIEW v AS {view}; CREATE TABLE u (b int)");
            let (schema, problems) = Schema::from_ddl(&text, SqlDialect::Sqlite).unwrap();
            assert_eq!((schema.tables.len(), schema.views.len()), (2, usize::from(is_read)));
            assert_eq!(problems.len(), usize::from(!is_read), "{problems:?}");
        }
    }

    #[test]
    fn keys_are_found_wherever_they_are_written() {
        let text = "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            INSERT INTO city VALUES (1, 'a;b');
            CREATE TABLE line (a INT, b INT, home INT REFERENCES city, away INT REFERENCES City (ID), PRIMARY KEY (a, B));
            CREATE TABLE stop (x INT, y INT, lost INT REFERENCES nowhere (id));
            ALTER TABLE stop ADD CONSTRAINT f FOREIGN KEY (X, y) REFERENCES shop.line (a, b);
            CREATE VIEW v AS SELECT 1";
        let (schema, problems) = Schema::from_ddl(text, SqlDialect::Generic).unwrap();
        assert_eq!(problems, []);
        let [city, line, stop] = schema.tables.as_slice() else { panic!("{schema:?}") };
        assert_eq!((city.primary_key.as_slice(), city.columns[1].not_null), (["id".to_owned()].as_slice(), true));
        assert_eq!(line.primary_key, ["a", "b"]);
        let of = |key: &ForeignKey| (key.columns.join(","), key.table.clone(), key.referenced.join(","), key.dangling);
        let city_key = |from: &str| (from.to_owned(), "city".to_owned(), "id".to_owned(), false);
        assert_eq!(line.foreign_keys.iter().map(of).collect::<Vec<_>>(), [city_key("home"), city_key("away")]);
        let lost = ("lost".to_owned(), "nowhere".to_owned(), "id".to_owned(), true);
        let whole = ("x,y".to_owned(), "line".to_owned(), "a,b".to_owned(), false);
        assert_eq!(stop.foreign_keys.iter().map(of).collect::<Vec<_>>(), [lost, whole]);
        assert_eq!(schema.views[0].name, "v");
    }

    #[test]
    fn what_cannot_be_parsed_is_told_of_and_the_rest_read() {
        let text = "CREATE TABLE a (x INT);\nCREATE TABLE b (x INT,,);\nALTER TABLE c ADD COLUMN y INT;";
        let (schema, problems) = Schema::from_ddl(text, SqlDialect::Generic).unwrap();
        assert_eq!(schema.tables.len(), 1);
        let lines: Vec<u64> =
            problems.iter().map(|p| if let Problem::Definition { line, .. } = p { *line } else { 0 }).collect();
        assert_eq!(lines, [2, 3]);
        assert!(Schema::from_ddl("CREATE TABLE a (x 'y", SqlDialect::Generic).is_err());
        let deep = format!("CREATE VIEW v AS SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
        let (schema, problems) = Schema::from_ddl(&deep, SqlDialect::Generic).unwrap();
        assert_eq!((schema.views.len(), problems.len()), (0, 1));
    }
}

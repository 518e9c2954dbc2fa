//! What a statement calls and casts to, before a server sees it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    ObjectName, ObjectNamePart, OrderByExpr, OrderBySort, Query, Select, SetExpr, Statement, TableFactor, Value,
    Visitor,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::{Parser, ParserError};

use crate::error::QueryError;
use crate::walk::walk;

/// Functions that compute from their arguments alone, and cannot make much of little (as `repeat` and `lpad` can).
const FUNCTIONS: &str = "abs acos acosh age any_value array_agg array_append array_length array_lower array_position array_positions array_prepend \
    array_remove array_replace array_to_string array_upper ascii asin \
    asinh atan atan2 atanh avg bit_and bit_length bit_or bool_and bool_or btrim cardinality cbrt ceil ceiling char_length \
    character_length chr clock_timestamp coalesce concat concat_ws corr cos cosh cot count covar_pop covar_samp cume_dist current_date \
    current_time current_timestamp date date_bin date_part date_trunc degrees dense_rank div every exp extract \
    first_value floor gcd gen_random_uuid greatest initcap json_agg json_array_length json_build_array json_build_object \
    json_extract_path json_extract_path_text json_object_agg json_object_keys json_typeof jsonb_agg jsonb_array_length \
    jsonb_build_array jsonb_build_object jsonb_extract_path jsonb_extract_path_text jsonb_object_agg jsonb_object_keys \
    jsonb_pretty jsonb_set jsonb_strip_nulls jsonb_typeof justify_days justify_hours justify_interval lag last_value lcm lead least left length ln localtime \
    localtimestamp log log10 lower ltrim make_date make_interval make_time make_timestamp max md5 min mod mode now \
    nth_value ntile nullif num_nonnulls num_nulls octet_length percent_rank percentile_cont percentile_disc pi position \
    pow power radians random rank regexp_count regexp_like regexp_match regexp_matches regexp_replace \
    regexp_split_to_array regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx \
    regr_sxy regr_syy replace reverse right round row_number row_to_json rtrim sign sin sinh split_part sqrt starts_with statement_timestamp \
    stddev stddev_pop stddev_samp string_agg string_to_array strpos substr substring sum tan tanh to_char to_date to_json \
    to_jsonb to_number to_timestamp translate trim trunc unnest upper var_pop var_samp variance width_bucket";

/// Functions that make rows.
const TABLE_FUNCTIONS: &str = "generate_series json_array_elements json_array_elements_text json_each json_each_text \
    jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text regexp_matches string_to_table unnest";

/// Functions that can make much of little, and do not where their number is written out and at most [`FILLED`].
const FILLS: [&str; 2] = ["lpad", "rpad"];
const FILLED: u32 = 1000;

/// Types without a look into the database, as `regclass` takes, or out of it, as `xml` may.
const TYPES: &str = "bigint bool boolean bytea char character date dec decimal double float float4 float8 int int2 int4 int8 \
    integer interval json jsonb numeric real smallint text time timestamp timestamptz timetz uuid varchar";

/// Words that are functions without brackets and tell who is connected, and to what.
const WORDS: [&str; 7] =
    ["current_catalog", "current_role", "current_schema", "current_user", "session_user", "system_user", "user"];

const OWN_OPERATORS: &str = "operators of one's own are not allowed";

/// Room for the parser and for dropping what it made, which descend into what is nested.
const STACK: usize = 256 << 20;

/// Names that are no more than casts to types which may be cast to.
const CASTS: [&str; 2] = ["bpchar", "name"];

/// A statement that may be sent once its names are known to be those of visible tables and their columns.
#[derive(Debug)]
pub(super) struct Checked {
    /// As it came.
    pub sql: String,
    /// Names behind a dot other than those of functions that may be called: `t.f` is also how the function `f` is called.
    pub attributes: BTreeSet<String>,
}

/// Looks at a statement.
///
/// # Errors
/// [`QueryError::Refused`] where it is not one query, or does or calls what it may not; [`QueryError::Stopped`] where it
/// is nested too deep.
pub(super) fn check(sql: &str) -> Result<Checked, QueryError> {
    if sql.contains('\0') {
        return Err(QueryError::refused("a NUL character in the statement"));
    }
    with_query(sql, |query| {
        let mut found = Found::default();
        match walk(&*query, &mut found) {
            ControlFlow::Break(reason) => Err(QueryError::refused(reason)),
            ControlFlow::Continue(()) => Ok(Checked { sql: sql.to_owned(), attributes: found.attributes }),
        }
    })
}

/// Does something with the query that a statement is, where there is room for it.
///
/// # Errors
/// As [`check`], and what the work gives.
pub(super) fn with_query<T: Send>(
    sql: &str,
    work: impl FnOnce(&mut Query) -> Result<T, QueryError> + Send,
) -> Result<T, QueryError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
            let mut query = parse(sql)?;
            work(query.as_mut())
        });
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(QueryError::refused("the statement cannot be parsed")),
            Err(error) => Err(QueryError::failed(format!("no thread could be started: {error}"))),
        }
    })
}

fn parse(sql: &str) -> Result<Box<Query>, QueryError> {
    let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).map_err(|error| match error {
        ParserError::RecursionLimitExceeded => QueryError::stopped("statement: nested too deep"),
        ParserError::ParserError(message) | ParserError::TokenizerError(message) => QueryError::refused(message),
    })?;
    let statement = match statements.len() {
        0 => return Err(QueryError::refused("no statement")),
        1 => statements.remove(0),
        _ => return Err(QueryError::refused("more than one statement")),
    };
    match statement {
        Statement::Query(query) => Ok(query),
        _ => Err(QueryError::refused("only SELECT, VALUES and WITH ... SELECT are allowed")),
    }
}

#[derive(Default)]
struct Found {
    attributes: BTreeSet<String>,
}

pub(super) type Flow = ControlFlow<String>;

pub(super) fn refuse(reason: impl Into<String>) -> Flow {
    ControlFlow::Break(reason.into())
}

/// A name as PostgreSQL takes it.
pub(super) fn spelled(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_ascii_lowercase() }
}

pub(super) fn parts(name: &ObjectName) -> Option<Vec<String>> {
    name.0
        .iter()
        .map(|part| match part {
            ObjectNamePart::Identifier(name) => Some(spelled(name)),
            ObjectNamePart::Function(_) => None,
        })
        .collect()
}

impl Found {
    fn attribute(&mut self, name: &Ident) {
        let name = spelled(name);
        let listed = [FUNCTIONS, TABLE_FUNCTIONS, TYPES].into_iter().flat_map(str::split_whitespace);
        if !listed.chain(CASTS).any(|harmless| harmless == name) {
            self.attributes.insert(name);
        }
    }
}

fn function(name: &ObjectName, allowed: &str) -> Flow {
    let known = |function: &str| allowed.split_whitespace().any(|name| name == function);
    match parts(name).as_deref() {
        Some([function]) if known(function) => ControlFlow::Continue(()),
        Some([schema, function]) if schema == "pg_catalog" && known(function) => ControlFlow::Continue(()),
        _ => refuse(format!("the function {name} is not allowed")),
    }
}

/// Whether a call is one of [`FILLS`] up to a length that is written out.
fn fills_little(call: &Function) -> bool {
    let FunctionArguments::List(list) = &call.args else { return false };
    let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(length)))) = list.args.get(1) else { return false };
    matches!(parts(&call.name).as_deref(), Some([name]) if FILLS.contains(&name.as_str()))
        && matches!(&length.value, Value::Number(digits, _) if digits.parse().is_ok_and(|length: u32| length <= FILLED))
}

fn data_type(kind: &DataType) -> Flow {
    let written = kind.to_string().to_lowercase();
    let known = |word: &str| TYPES.split_whitespace().any(|name| name == word);
    // No schema before it, and in its brackets nothing but words and numbers.
    let plain = written.chars().all(|letter| letter.is_ascii_alphanumeric() || "_ (),[]".contains(letter));
    match written.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next() {
        Some(word) if plain && known(word) => ControlFlow::Continue(()),
        _ => refuse(format!("the type {kind} is not allowed")),
    }
}

fn body(set: &SetExpr) -> Flow {
    match set {
        // What is nested is visited by itself.
        SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => ControlFlow::Continue(()),
        SetExpr::SetOperation { left, right, .. } => {
            body(left)?;
            body(right)
        }
        _ => refuse("the statement does more than read"),
    }
}

impl Visitor for Found {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        if !query.locks.is_empty() {
            return refuse("FOR UPDATE and its like lock rows, and only reading is allowed");
        }
        let more = query.for_clause.is_some() || query.settings.is_some() || query.format_clause.is_some();
        if more || !query.pipe_operators.is_empty() {
            return refuse("the statement does more than read");
        }
        // The server's own tables are the only ones that are found without a schema.
        let mut local = query.with.iter().flat_map(|with| &with.cte_tables).map(|table| spelled(&table.alias.name));
        if let Some(name) = local.find(|name| name.starts_with("pg_")) {
            return refuse(format!("{name} cannot be the name of a common table expression here"));
        }
        body(&query.body)
    }

    fn pre_visit_select(&mut self, select: &Select) -> Flow {
        if select.into.is_some() {
            return refuse("SELECT INTO writes, and only reading is allowed");
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_statement(&mut self, _: &Statement) -> Flow {
        refuse("the statement does more than read")
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Flow {
        match factor {
            TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => {
                function(name, TABLE_FUNCTIONS)
            }
            TableFactor::Table { name, .. } => match parts(name).as_deref() {
                Some([_] | [_, _]) => ControlFlow::Continue(()),
                _ => refuse(format!("{name} cannot be read")),
            },
            TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } | TableFactor::UNNEST { .. } => {
                ControlFlow::Continue(())
            }
            other => refuse(format!("{other} is not allowed")),
        }
    }

    fn pre_visit_order_by_expr(&mut self, by: &OrderByExpr) -> Flow {
        match by.options.sort {
            Some(OrderBySort::Using(_)) => refuse(OWN_OPERATORS),
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> Flow {
        match expression {
            Expr::Function(call) if fills_little(call) => ControlFlow::Continue(()),
            Expr::Function(call) if function(&call.name, TABLE_FUNCTIONS).is_continue() => ControlFlow::Continue(()),
            Expr::Function(call) => function(&call.name, FUNCTIONS),
            Expr::Cast { data_type: kind, .. } => data_type(kind),
            Expr::TypedString(typed) => data_type(&typed.data_type),
            Expr::Identifier(name) if name.quote_style.is_none() && WORDS.contains(&spelled(name).as_str()) => {
                refuse(format!("{name} is not allowed"))
            }
            Expr::BinaryOp { op, .. } | Expr::AnyOp { compare_op: op, .. } | Expr::AllOp { compare_op: op, .. }
                if matches!(op, BinaryOperator::PGCustomBinaryOperator(_) | BinaryOperator::Custom(_)) =>
            {
                refuse(OWN_OPERATORS)
            }
            Expr::CompoundIdentifier(names) => {
                if let Some(name) = names.last() {
                    self.attribute(name);
                }
                ControlFlow::Continue(())
            }
            Expr::CompoundFieldAccess { access_chain, .. } => {
                for access in access_chain {
                    match access {
                        AccessExpr::Dot(Expr::Identifier(name)) => self.attribute(name),
                        AccessExpr::Dot(_) => return refuse(format!("{expression} is not allowed")),
                        AccessExpr::Subscript(_) => {}
                    }
                }
                ControlFlow::Continue(())
            }
            Expr::Convert { .. }
            | Expr::JsonAccess { .. }
            | Expr::MatchAgainst { .. }
            | Expr::Lambda(_)
            | Expr::MemberOf(_)
            | Expr::Prior(_)
            | Expr::OuterJoin(_)
            | Expr::Map(_)
            | Expr::Dictionary(_)
            | Expr::Struct { .. }
            | Expr::Prefixed { .. } => refuse(format!("{expression} is not allowed")),
            _ => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_is_let_through() {
        for sql in [
            "SELECT a, count(*) FROM t WHERE a::int > 3 GROUP BY a ORDER BY 2 DESC LIMIT 3",
            "WITH x AS (SELECT 1 AS a) SELECT x.a FROM x JOIN s.\"T\" y USING (a)",
            "VALUES (1, 'x')",
            "SELECT DATE '2024-01-01' + INTERVAL '1 day', CAST(a AS numeric(10, 2)) FROM t",
            "SELECT extract(year FROM d), substring(a FROM 2 FOR 3), position('a' IN b), trim(both 'x' FROM a) FROM t",
            "SELECT sum(a) FILTER (WHERE b) OVER (PARTITION BY c) FROM t, generate_series(1, 3)",
            "SELECT ARRAY[1, 2], a -> 'b' ->> 'c', a ~ 'x' FROM t WHERE a ILIKE 'y%' AND b BETWEEN 1 AND 2",
            "SELECT 'pg_sleep(1)', $$drop table t$$",
            "SELECT generate_series(1, 3), jsonb_array_elements(a), lpad(id::text, 5, '0'), jsonb_set(a, b, c) FROM t",
        ] {
            assert!(check(sql).is_ok(), "{sql}: {:?}", check(sql).err());
        }
        let sql = "SELECT X.Height, (x.a).b, x.name, y.p[1].q, x.count, s.t.\"C\" FROM s.t x ORDER BY z.d";
        assert_eq!(
            check(sql).unwrap().attributes.into_iter().collect::<Vec<_>>(),
            ["C", "a", "b", "d", "height", "p", "q"]
        );
    }

    #[test]
    fn what_does_more_is_refused() {
        for sql in [
            "",
            "SELECT 1; SELECT 2",
            "SELECT pg_sleep(1)",
            "SELECT pg_catalog.pg_sleep(1)",
            "SELECT \"pg_sleep\"(1)",
            "SELECT public.lower('A')",
            "SELECT lo_create(0)",
            "SELECT * FROM pg_ls_dir('/')",
            "SELECT * FROM ROWS FROM (pg_ls_dir('/')) x",
            "SELECT a FROM t ORDER BY pg_sleep(1)",
            "SELECT a FROM t LIMIT (SELECT pg_sleep(1))",
            "SELECT count(*) FILTER (WHERE pg_sleep(1) IS NULL) FROM t",
            "SELECT sum(a) OVER (ORDER BY pg_sleep(1)) FROM t",
            "SELECT a FROM t JOIN u ON pg_sleep(1) IS NULL",
            "SELECT a FROM t GROUP BY GROUPING SETS ((pg_sleep(1)))",
            "VALUES (pg_sleep(1))",
            "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
            "WITH x AS (TABLE secret) SELECT * FROM x",
            "TABLE secret",
            "SELECT * INTO u FROM t",
            "SELECT * FROM t FOR UPDATE",
            "SELECT * FROM (SELECT * FROM t FOR SHARE) x",
            "SELECT 'secret'::regclass",
            "SELECT regclass 'secret'",
            "SELECT CAST('<a/>' AS xml)",
            "SELECT '1'::pg_catalog.regclass",
            "SELECT ARRAY['t']::regclass[]",
            "SELECT current_user",
            "SELECT session_user",
            "SELECT 1 OPERATOR(public.+) 1",
            "SELECT a FROM t ORDER BY a USING OPERATOR(public.<)",
            "SELECT sum(a) OVER (ORDER BY a USING <) FROM t",
            "SELECT (t).mine(1) FROM t",
            "SELECT CAST(1 AS text('a'))",
            "WITH pg_class AS (SELECT 1) SELECT 1",
            "EXPLAIN SELECT 1",
            "SET ROLE x",
            "COPY t TO STDOUT",
            "SELECT nextval('s')",
            "SELECT * FROM a.b.c",
            "SELECT lpad('x', 100000000)",
            "SELECT lpad('x', n) FROM t",
            "SELECT lpad('x', -1 + 100000000)",
            "SELECT repeat('x', 10)",
            "SELECT query_to_xml('x', true, false, '')",
            "SELECT XMLPARSE(DOCUMENT '<a/>')",
            "SELECT * FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS b text)",
        ] {
            assert!(matches!(check(sql), Err(QueryError::Refused { .. })), "{sql}: {:?}", check(sql));
        }
        let deep = format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
        assert!(matches!(check(&deep), Err(QueryError::Stopped { .. })));
        assert!(check(&format!("SELECT 1{}", " + 1".repeat(20_000))).is_ok());
    }
}

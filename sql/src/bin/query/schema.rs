//! `--explain` and `--schema`.

use std::io::{self, BufWriter, Write as _};
use std::time::{Duration, Instant};

use anyhow::Result;
use tabsegnet_sql::compose::{Composer, Model as Statements};
use tabsegnet_sql::linking::{Explanation, Linker, Model, ValueIndex, ValueLimits};
use tabsegnet_sql::schema_graph::{SchemaGraph, html};
use tabsegnet_sql::{Narrowed, QueryError, Sandbox, Target, narrowed, schema_graph_of};
use tabsegnet_store::eprintln;

use super::source::{Reader, Source};
use super::{Arguments, FormatArgument, SEARCH, SchemaFormat};

/// Time for the statements that an explanation weighs sets of tables by: of very many rows those that are run by then count.
const STATEMENTS: Duration = Duration::from_secs(1);

/// Answers both.
pub fn write(arguments: &Arguments, source: &Source, sandbox: &Sandbox) -> Result<()> {
    let limits = ValueLimits::default();
    let sandbox = Sandbox { rows: limits.per_column, ..sandbox.clone() };
    let mut known = source.known(&sandbox, super::semantics(arguments)?)?;
    known.not_there.iter().for_each(|name| super::hidden_is_not_there(name));
    let target =
        Target { schema: &known.schema, semantics: &known.semantics, dialect: known.dialect, labels: &known.labels };
    let narrowed = arguments.question.as_deref().and_then(|question| narrowed(question, target));
    let target = narrowed.as_ref().map_or(target, |narrowed| narrowed.target(target.dialect));
    // A question is explained over the graph that it is answered over.
    let graph = match (&arguments.question, &mut known.reader) {
        (None, _) | (_, Reader::Nothing) => SchemaGraph::new(target.schema, target.semantics, target.dialect)?,
        (Some(_), reader) => schema_graph_of(target, &mut |sql| reader.query(sql))?,
    };
    let graph = graph.with_problems(known.problems);
    let mut output = BufWriter::new(io::stdout().lock());
    if let Some(question) = &arguments.question {
        let (start, mut late) = (Instant::now(), false);
        let values = match &known.reader {
            Reader::Nothing => ValueIndex::default(),
            _ => ValueIndex::read(&graph, limits, &mut |sql| {
                late |= start.elapsed() > SEARCH / 2;
                if late { Err(QueryError::Stopped { limit: "time".to_owned() }) } else { known.reader.query(sql) }
            })?,
        };
        let linker = Linker::new(&graph, values, Model::shipped());
        let (linked, note) = match &mut known.reader {
            Reader::Nothing => (linker.link(question), None),
            reader => Composer::new(&linker, Statements::shipped()).link(
                question,
                SEARCH.saturating_sub(start.elapsed()).min(STATEMENTS),
                &mut |sql| reader.query(sql),
            ),
        };
        let mut explanation = Explanation::new(&linker, question, &linked);
        explanation.warnings.extend(narrowed.iter().map(Narrowed::note));
        explanation.warnings.extend(note.map(str::to_owned));
        if late {
            explanation.warnings.push("time ran out before the values of all columns were read".to_owned());
        }
        match arguments.format {
            FormatArgument::Json => writeln!(output, "{}", serde_json::to_string(&explanation)?)?,
            _ => explanation.write(&mut output)?,
        }
    }
    // The other forms have a place for them.
    if matches!(arguments.schema, Some(SchemaFormat::Dot | SchemaFormat::Graphml)) {
        graph.problems().iter().for_each(|problem| eprintln!("warning: {problem}"));
    }
    let title = source.title(&arguments.database);
    let title = title.as_str();
    match arguments.schema {
        Some(SchemaFormat::Html) => writeln!(output, "{}", html(&graph, title))?,
        Some(SchemaFormat::Dot) => writeln!(output, "{}", graph.graph().to_dot())?,
        Some(SchemaFormat::Graphml) => writeln!(output, "{}", graph.graph().to_graphml())?,
        Some(SchemaFormat::Json) => writeln!(output, "{}", serde_json::to_string(&graph)?)?,
        None => {}
    }
    Ok(output.flush()?)
}

//! A schema from several files of definitions.

use super::ddl::{DdlError, SqlDialect};
use super::problem::Problem;
use crate::schema::Schema;

impl Schema {
    /// The tables and views that several texts define, each with the name of its file, as if one stood behind the other.
    /// Problems name the file; one that is not SQL is left out.
    ///
    /// # Errors
    /// As [`Schema::from_ddl`], where the texts can be cut into statements each alone and not together.
    pub fn from_ddl_files(files: &[(String, String)], dialect: SqlDialect) -> Result<(Self, Vec<Problem>), DdlError> {
        let (mut text, mut problems) = (String::new(), Vec::new());
        // The names of files by the line that they begin at.
        let mut begins: Vec<(u64, &str)> = Vec::new();
        for (name, definitions) in files {
            match Self::from_ddl(definitions, dialect) {
                Ok(_) => {
                    begins.push((text.matches('\n').count() as u64 + 1, name));
                    text.push_str(definitions);
                    // Whatever it ends with.
                    text.push_str("\n;\n");
                }
                Err(error) => problems.push(Problem::File { file: name.clone(), message: error.to_string() }),
            }
        }
        let (schema, found) = Self::from_ddl(&text, dialect)?;
        problems.extend(found.into_iter().map(|problem| match problem {
            Problem::Definition { line, message } => {
                let (begin, file) = begins.iter().rfind(|(begin, _)| *begin <= line).copied().unwrap_or((1, ""));
                let line = line.saturating_sub(begin) + 1;
                let message = Problem::Definition { line, message }.to_string();
                Problem::File { file: file.to_owned(), message }
            }
            other => other,
        }));
        Ok((schema, problems))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_define_one_schema() {
        let files: Vec<(String, String)> = [
            ("0.sql", "ALTER TABLE city ADD COLUMN mayor TEXT"),
            ("a.sql", "CREATE TABLE city (id INT PRIMARY KEY);\nCREATE TABLE b (x INT,,);\n-- no end"),
            ("b.sql", "\nCREATE TABLE line (city INT REFERENCES city)"),
            ("c.sql", "CREATE TABLE broken (x 'y"),
            ("d.sql", "ALTER TABLE line ADD COLUMN name TEXT;\n\nALTER TABLE nowhere ADD COLUMN y INT"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec();
        let (schema, problems) = Schema::from_ddl_files(&files, SqlDialect::Generic).unwrap();
        let names: Vec<&String> = schema.tables.iter().map(|table| &table.name).collect();
        assert_eq!(names, ["city", "line"]);
        assert_eq!(schema.tables[0].columns.len(), 2, "altered in a file before");
        assert_eq!((schema.tables[1].columns.len(), schema.tables[1].foreign_keys[0].dangling), (2, false));
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let begins = ["c.sql: ", "a.sql: the definition in line 2 ", "d.sql: the definition in line 3 "];
        assert_eq!(told.len(), begins.len(), "{told:?}");
        for (told, begin) in told.iter().zip(begins) {
            assert!(told.starts_with(begin), "{told}");
        }
    }
}

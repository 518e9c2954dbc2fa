//! How what names a database is understood and shown: it may have a password.

/// Words before a password.
const KEYS: [&str; 3] = ["password", "passwd", "pwd"];

/// Words of the form `host=localhost dbname=shop`.
const WORDS: [&str; 6] = ["host=", "dbname=", "database=", "user=", "password=", "server="];

/// Whether a name is the URL of a PostgreSQL database.
pub fn is_postgres(name: &str) -> bool {
    let scheme = name.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| ["postgres", "postgresql"].iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}

/// Whether a name is rather that of a database on a server than that of a file.
pub fn is_of_server(name: &str) -> bool {
    let words: String = name.to_ascii_lowercase().split_whitespace().collect::<Vec<_>>().join(" ").replace(" =", "=");
    name.contains("://") || words.split([' ', ';']).any(|word| WORDS.iter().any(|known| word.starts_with(known)))
}

/// A name of a database without what may be a password: what stands between a colon and the last `@`, as in
/// `mysql://USER:PASSWORD@HOST`, and what comes after `password=`.
pub fn shown(name: &str) -> String {
    let start = name.find("://").map_or(0, |at| at + 3);
    let user = name.rfind('@').and_then(|end| Some((name.get(start..end)?.find(':')? + start + 1, end)));
    let name = match user.and_then(|(colon, end)| Some((name.get(..colon)?, name.get(end..)?))) {
        Some((before, after)) => format!("{before}***{after}"),
        None => name.to_owned(),
    };
    let lower = name.to_ascii_lowercase();
    let (mut text, mut from) = (String::new(), 0);
    while let Some((begin, end)) = password(&lower, from) {
        text.push_str(name.get(from..begin).unwrap_or_default());
        text.push_str("***");
        from = end;
    }
    text.push_str(name.get(from..).unwrap_or_default());
    text
}

/// Where the first password behind a word for it stands, in small letters.
fn password(lower: &str, from: usize) -> Option<(usize, usize)> {
    let rest = lower.get(from..)?;
    let of_word = |key: &str| {
        rest.match_indices(key).find_map(|(at, _)| {
            let behind = rest.get(at + key.len()..)?.trim_start();
            let value = behind.strip_prefix('=')?.trim_start();
            let begin = rest.len() - value.len();
            let length = match value.chars().next()? {
                // To the last quote, as others may be escaped.
                quote @ ('\'' | '"') => value.rfind(quote).filter(|at| *at > 0).map(|at| at + 1),
                _ => value.find(|letter: char| letter.is_whitespace() || letter == '&' || letter == ';'),
            };
            Some((from + begin, from + begin + length.unwrap_or(value.len())))
        })
    };
    KEYS.iter().filter_map(|key| of_word(key)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (name, wanted) in [
            ("mysql://u:pw@h/d", "mysql://u:***@h/d"),
            ("POSTGRES://reader:p:w@x@h:5432/d", "POSTGRES://reader:***@h:5432/d"),
            ("host=h password=pw dbname=d", "host=h password=*** dbname=d"),
            ("host=h Password = 'p w' dbname=d", "host=h Password = *** dbname=d"),
            ("Server=h;Pwd=pw;Database=d", "Server=h;Pwd=***;Database=d"),
            ("postgres://h/d?user=u&password=pw&x=1", "postgres://h/d?user=u&password=***&x=1"),
            ("password='pw", "password=***"),
            ("passwords.db", "passwords.db"),
            ("a:b@c.db", "a:***@c.db"),
            ("mysql://h:3306/d", "mysql://h:3306/d"),
            ("é password=é", "é password=***"),
            ("password=", "password="),
        ] {
            assert_eq!(shown(name), wanted);
        }
    }

    #[test]
    fn servers_are_told_from_files() {
        for name in ["mysql://h/d", "host=h dbname=d", "Server=h;Database=d", "HOST = h"] {
            assert!(is_of_server(name) && !is_postgres(name), "{name}");
        }
        for name in ["PostgreSQL://h/d", "postgres://h/d"] {
            assert!(is_of_server(name) && is_postgres(name), "{name}");
        }
        for name in ["a.db", "C:\\data\\a.db", "my host.csv", "a=b.db"] {
            assert!(!is_of_server(name), "{name}");
        }
    }
}

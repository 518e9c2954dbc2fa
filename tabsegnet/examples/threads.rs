//! Many questions about one report, from several threads.

use std::thread;

use tabsegnet::{OpenDocument, Question, RankingError, Session};

const QUESTIONS: [(&str, &str); 4] = [
    ("deferred", "What was long-term deferred revenue on June 30, 2009?"),
    ("total", "What was total deferred revenue in 2009?"),
    ("change", "How much did unearned revenue change from 2008 to 2009?"),
    ("why", "Why did deferred revenue rise?"),
];

/// An open document is owned, and its clones are one document: it goes wherever a thread or a task goes.
fn best(report: OpenDocument, id: &'static str, question: &'static str) -> Result<String, RankingError> {
    // The id comes back in the ranking, and in messages.
    let ranking = report.rank(Question::new(question).id(id).top(1))?;
    Ok(format!("{}: {}", ranking.question_id, ranking.nodes[0].id))
}

/// Prints the best node for each question.
pub fn main() -> Result<(), RankingError> {
    // The session may go: the document keeps what it needs.
    let report = Session::open("checkpoints/general")?.open_document("tabsegnet/examples/report.json")?;
    let threads = QUESTIONS.map(|(id, question)| {
        let report = report.clone();
        thread::spawn(move || best(report, id, question))
    });
    for thread in threads {
        println!("{}", thread.join().expect("a thread that does not panic")?);
    }
    Ok(())
}

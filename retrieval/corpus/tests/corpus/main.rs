//! What must hold of a corpus, whatever it is made of and whatever happens to it.

mod changes;
mod crash;
mod damage;
mod many_files;
mod odd;
mod pruned;
mod readers;
mod same_answers;
mod support;

//! A Unigram tokenizer (Kudo 2018) of one's own texts, in the layout of a T5's.

use std::collections::BTreeMap;

use tokenizers::decoders::metaspace::Metaspace as Decoder;
use tokenizers::models::unigram::{Unigram, UnigramTrainer};
use tokenizers::normalizers::{Lowercase, NFKC, Sequence, Strip};
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::processors::template::TemplateProcessing;
use tokenizers::{
    AddedToken, NormalizedString, Normalizer as _, OffsetReferential, OffsetType, PreTokenizedString,
    PreTokenizer as _, TokenizerBuilder,
};

use crate::SegmenterError;

const PAD: &str = "<pad>";
const EOS: &str = "</s>";
const UNKNOWN: &str = "<unk>";

/// The bytes of a `tokenizer.json` with at most `vocabulary` tokens, learnt from `texts`: numbers 0,
/// 1, 2 are padding, end and unknown, the last `sentinels` ones `<extra_id_…>`. With `lower_case` texts
/// are read so.
///
/// The same texts give the same bytes, with one thread or many.
///
/// # Errors
/// A vocabulary too small for the different characters of the texts.
pub fn train_unigram<S: AsRef<str>>(
    texts: &[S],
    vocabulary: usize,
    sentinels: usize,
    lower_case: bool,
) -> Result<Vec<u8>, SegmenterError> {
    let failed = |reason: String| SegmenterError::Vocabulary { texts: texts.len(), vocabulary, reason };
    let words = words(texts, lower_case).map_err(|error| failed(error.to_string()))?;
    let special: Vec<AddedToken> = [PAD, EOS, UNKNOWN].map(|token| AddedToken::from(token, true)).into();
    let learnt = vocabulary.saturating_sub(sentinels);
    let characters: std::collections::BTreeSet<char> = words.keys().flat_map(|word| word.chars()).collect();
    // The trainer keeps every character; below that it would never end at the size requested.
    let least = characters.len() + special.len() + 1;
    if learnt < least {
        return Err(failed(format!(
            "they have {} different characters; expected a vocabulary of at least {}",
            characters.len(),
            least + sentinels
        )));
    }
    let model = learn(words, learnt, &special).map_err(|error| failed(error.to_string()))?;
    assemble(model, &special, sentinels, lower_case).map_err(|error| failed(error.to_string()))
}

fn normalizer(lower_case: bool) -> Sequence {
    let case = lower_case.then(|| Lowercase.into());
    Sequence::new([NFKC.into(), Strip::new(true, true).into()].into_iter().chain(case).collect())
}

fn pre_tokenizer() -> Metaspace {
    Metaspace::new('▁', PrependScheme::Always, true)
}

/// How often each word occurs, in the order of the words.
fn words<S: AsRef<str>>(texts: &[S], lower_case: bool) -> tokenizers::Result<BTreeMap<String, u32>> {
    let (mut words, normalizer) = (BTreeMap::new(), normalizer(lower_case));
    for text in texts {
        let mut normalized = NormalizedString::from(text.as_ref());
        normalizer.normalize(&mut normalized)?;
        let mut split = PreTokenizedString::from(normalized);
        pre_tokenizer().pre_tokenize(&mut split)?;
        for (word, _, _) in split.get_splits(OffsetReferential::Original, OffsetType::Byte) {
            if !word.is_empty() {
                *words.entry(word.to_owned()).or_default() += 1;
            }
        }
    }
    Ok(words)
}

/// Trains the model and makes it one that does not depend on chance: the trainer sums in as many parts as
/// there are threads, so that it gets one, and puts what it has to add in the order of a hash table.
fn learn(words: BTreeMap<String, u32>, vocabulary: usize, special: &[AddedToken]) -> tokenizers::Result<Unigram> {
    let trainer = UnigramTrainer::builder()
        .show_progress(false)
        .vocab_size(vocabulary as u32)
        .special_tokens(special.to_vec())
        .unk_token(Some(UNKNOWN.to_owned()))
        .build()?;
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut model = Unigram::default();
    one_thread.install(|| trainer.do_train(words.into_iter().collect(), &mut model))?;

    let mut pieces: Vec<(String, f64)> = model.iter().skip(special.len()).cloned().collect();
    let least = pieces.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min);
    // Characters that the trainer had to add have the least score and 0.0001 more each, in the order of
    // its hash table: here in their own.
    let added = |piece: &str, score: f64| {
        let steps = (score - least) / 1e-4;
        piece.chars().count() == 1 && (steps - steps.round()).abs() < 1e-6
    };
    let mut names: Vec<String> = Vec::new();
    let mut scores: Vec<f64> = Vec::new();
    for (piece, score) in pieces.iter().filter(|(piece, score)| added(piece, *score)) {
        names.push(piece.clone());
        scores.push(*score);
    }
    names.sort_unstable();
    scores.sort_by(f64::total_cmp);
    pieces.retain(|(piece, score)| !added(piece, *score));
    pieces.extend(names.into_iter().zip(scores));
    pieces.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let first = special.iter().map(|token| (token.content.clone(), 0.0));
    Unigram::from(first.chain(pieces).collect(), Some(2), false)
}

fn assemble(model: Unigram, special: &[AddedToken], sentinels: usize, lower_case: bool) -> tokenizers::Result<Vec<u8>> {
    let mut pieces: Vec<(String, f64)> = model.iter().cloned().collect();
    // As in T5: the last number is the first sentinel's.
    pieces.extend((0..sentinels).rev().map(|number| (format!("<extra_id_{number}>"), 0.0)));
    let model = Unigram::from(pieces, Some(2), false)?;
    let end = TemplateProcessing::builder()
        .try_single(format!("$A {EOS}"))?
        .try_pair(format!("$A {EOS} $B {EOS}"))?
        .special_tokens(vec![(EOS, 1)])
        .build()?;
    let mut tokenizer = TokenizerBuilder::default()
        .with_model(model)
        .with_normalizer(Some(normalizer(lower_case)))
        .with_pre_tokenizer(Some(pre_tokenizer()))
        .with_post_processor(Some(end))
        .with_decoder(Some(Decoder::new('▁', PrependScheme::Always, true)))
        .build()?;
    let mut added = special.to_vec();
    added.extend((0..sentinels).rev().map(|number| AddedToken::from(format!("<extra_id_{number}>"), true)));
    tokenizer.add_special_tokens(added)?;
    Ok(tokenizer.to_string(false)?.into_bytes())
}

#[cfg(test)]
mod tests {
    use tokenizers::Tokenizer;

    use super::*;

    fn texts() -> Vec<String> {
        (0..60)
            .map(|i| format!("what was the revenue of segment {i} in 20{i:02}? SEP cost of goods {} é", i * 7))
            .collect()
    }

    #[test]
    fn the_same_texts_give_the_same_bytes_with_any_number_of_threads() {
        let train = || train_unigram(&texts(), 160, 8, false).unwrap();
        let once = train();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(train) == once, "{threads} threads");
        }
    }

    #[test]
    fn it_has_the_layout_of_a_t5_and_gives_texts_back() {
        let bytes = train_unigram(&texts(), 160, 8, false).unwrap();
        let tokenizer = Tokenizer::from_bytes(&bytes).unwrap();
        let size = tokenizer.get_vocab_size(true) as u32;
        assert!(size <= 160 && size > 60, "{size}");
        for (token, number) in
            [(PAD, 0), (EOS, 1), (UNKNOWN, 2), ("<extra_id_0>", size - 1), ("<extra_id_7>", size - 8)]
        {
            assert_eq!(tokenizer.token_to_id(token), Some(number), "{token}");
        }
        let encoded = tokenizer.encode("revenue of 2019 SEP goods", true).unwrap();
        assert_eq!(encoded.get_ids().last(), Some(&1));
        assert_eq!(tokenizer.decode(encoded.get_ids(), true).unwrap(), "revenue of 2019 SEP goods");
        // What it has not seen is the unknown token.
        assert!(tokenizer.encode("収益", false).unwrap().get_ids().contains(&2));
    }

    #[test]
    fn in_lower_case_words_that_differ_in_case_are_one() {
        let tokenizer = Tokenizer::from_bytes(train_unigram(&texts(), 160, 8, true).unwrap()).unwrap();
        let tokens = |text: &str| tokenizer.encode(text, true).unwrap().get_ids().to_vec();
        assert_eq!(tokens("Revenue of 2019"), tokens("REVENUE OF 2019"));
        assert!(!tokens("REVENUE").contains(&2));
        assert_eq!(tokenizer.decode(&tokens("Revenue of 2019"), true).unwrap(), "revenue of 2019");
    }

    #[test]
    fn a_vocabulary_below_the_characters_is_refused() {
        let error = train_unigram(&texts(), 20, 8, false).unwrap_err().to_string();
        assert!(error.contains("different characters; expected a vocabulary of at least"), "{error}");
    }
}

//! How a request is written, for servers that do not take all parameters.

/// Which parameters a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    /// `max_completion_tokens` in place of `max_tokens`.
    pub(super) completion_tokens: bool,
    pub(super) temperature: bool,
}

impl Form {
    /// The form that a server takes, where it refuses one for the name of a parameter.
    pub(super) fn without(self, status: u16, said: &str) -> Option<Self> {
        let said = said.to_lowercase();
        let refused = [
            "unsupported", "not support", "unknown", "unrecognized", "not permitted", "deprecated", "only the default",
        ];
        if !matches!(status, 400 | 422) || !refused.iter().any(|word| said.contains(word)) {
            return None;
        }
        if said.contains("max_tokens") && !self.completion_tokens {
            return Some(Self { completion_tokens: true, ..self });
        }
        (said.contains("temperature") && self.temperature).then_some(Self { temperature: false, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn a_parameter_that_is_refused_by_its_name_is_left_out() {
        let all = Form { completion_tokens: false, temperature: true };
        let renamed = Form { completion_tokens: true, ..all };
        let bare = Form { temperature: false, ..renamed };
        let tokens = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        let warmth = "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported.";
        assert_eq!(all.without(400, tokens), Some(renamed));
        assert_eq!(renamed.without(400, warmth), Some(bare));
        assert_eq!(
            all.without(422, "body.temperature: Extra inputs are not permitted"),
            Some(Form { temperature: false, ..all })
        );
        // What is not taken away by that is an error.
        for (form, status, said) in [
            (renamed, 400, tokens),
            (bare, 400, warmth),
            (all, 500, tokens),
            (all, 400, "max_tokens is too large"),
            (all, 400, "response_format is not supported"),
        ] {
            assert_eq!(form.without(status, said), None, "{said}");
        }
    }
}

//! A Rust source taken apart, line by line: code, comments and strings each by themselves, so that
//! a word in a comment is not taken for code.
//!
//! Not a parser: it knows only where comments and literals begin and end. That is enough for rules
//! about words, and does not break on code that does not compile yet.

use std::iter::Peekable;
use std::str::Chars;

/// The same lines three times: in each view all that is of another kind is blank.
pub(crate) struct RustText {
    /// Code, without comments and the insides of literals.
    pub(crate) code: Vec<String>,
    /// Comments, with their marks.
    pub(crate) comments: Vec<String>,
    /// Insides of string literals, in the order in which they begin, each with its line from 0.
    pub(crate) strings: Vec<(usize, String)>,
}

/// What a character belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Text,
}

struct Splitter<'a> {
    rest: Peekable<Chars<'a>>,
    code: Vec<String>,
    comments: Vec<String>,
    strings: Vec<(usize, String)>,
    /// The character before, to tell `r"` from `for"`.
    before: char,
}

impl RustText {
    pub(crate) fn new(text: &str) -> Self {
        let mut splitter = Splitter {
            rest: text.chars().peekable(),
            code: vec![String::new()],
            comments: vec![String::new()],
            strings: Vec::new(),
            before: ' ',
        };
        splitter.split();
        let Splitter {
            code,
            comments,
            strings,
            ..
        } = splitter;
        Self {
            code,
            comments,
            strings,
        }
    }

    /// The lines of code, counted from 1, in which `word` stands by itself.
    pub(crate) fn lines_with_word(&self, word: &str) -> impl Iterator<Item = usize> {
        let has = move |line: &&String| words(line).any(|found| found == word);
        let lines = (1..).zip(&self.code);
        lines
            .filter(move |(_, line)| has(line))
            .map(|(number, _)| number)
    }

    /// The first and last line, counted from 0, of a `#[cfg(test)] mod ... { ... }`, which may have
    /// further conditions.
    pub(crate) fn test_module(&self) -> Option<(usize, usize)> {
        let first = (0..self.code.len()).find(|line| self.opens_test_module(*line))?;
        let mut depth = 0_usize;
        for (line, code) in self.code.iter().enumerate().skip(first) {
            for c in code.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            return Some((first, line));
                        }
                    }
                    _ => {}
                }
            }
        }
        Some((first, self.code.len() - 1))
    }

    fn opens_test_module(&self, line: usize) -> bool {
        let next = self
            .code
            .get(line + 1)
            .map(String::as_str)
            .unwrap_or_default();
        let attribute = self.code[line].trim();
        (attribute == "#[cfg(test)]" || attribute.starts_with("#[cfg(all(test,"))
            && words(next).any(|word| word == "mod")
            && next.trim_end().ends_with('{')
    }
}

/// The identifiers and keywords of a line of code.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

impl Splitter<'_> {
    fn split(&mut self) {
        while let Some(c) = self.rest.next() {
            match (c, self.rest.peek().copied()) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', Some('"' | '#')) if !is_word(self.before) || self.follows_prefix() => {
                    self.raw_string();
                }
                ('\'', _) => self.quote(),
                _ => self.put(c, Kind::Code),
            }
        }
    }

    /// Writes `c` into the view it belongs to, and a blank into the others.
    fn put(&mut self, c: char, kind: Kind) {
        self.before = c;
        if kind == Kind::Text
            && let Some((_, string)) = self.strings.last_mut()
        {
            string.push(c);
        }
        if c == '\n' {
            self.code.push(String::new());
            self.comments.push(String::new());
            return;
        }
        for (view, of) in [
            (&mut self.code, Kind::Code),
            (&mut self.comments, Kind::Comment),
        ] {
            if let Some(line) = view.last_mut() {
                line.push(if kind == of { c } else { ' ' });
            }
        }
    }

    fn begin_string(&mut self) {
        self.put('"', Kind::Code);
        self.strings.push((self.code.len() - 1, String::new()));
    }

    fn line_comment(&mut self) {
        self.put('/', Kind::Comment);
        while let Some(c) = self.rest.next_if(|c| *c != '\n') {
            self.put(c, Kind::Comment);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 1_usize;
        self.put('/', Kind::Comment);
        if let Some(star) = self.rest.next() {
            self.put(star, Kind::Comment);
        }
        while depth > 0
            && let Some(c) = self.rest.next()
        {
            let pair = (c, self.rest.peek().copied());
            self.put(c, Kind::Comment);
            match pair {
                ('/', Some('*')) => depth += 1,
                ('*', Some('/')) => depth -= 1,
                _ => continue,
            }
            if let Some(second) = self.rest.next() {
                self.put(second, Kind::Comment);
            }
        }
    }

    fn string(&mut self) {
        self.begin_string();
        while let Some(c) = self.rest.next() {
            match c {
                '"' => return self.put('"', Kind::Code),
                '\\' => {
                    self.put(c, Kind::Text);
                    if let Some(escaped) = self.rest.next() {
                        self.put(escaped, Kind::Text);
                    }
                }
                _ => self.put(c, Kind::Text),
            }
        }
    }

    /// Whether the letter before an `r` is the `b` or `c` of `br"` or `cr"`.
    fn follows_prefix(&self) -> bool {
        let line = self.code.last().map(String::as_str).unwrap_or_default();
        let mut back = line.chars().rev();
        matches!(back.next(), Some('b' | 'c')) && !back.next().is_some_and(is_word)
    }

    /// `r"..."`, `r#"..."#`; or `r#name`, which is code.
    fn raw_string(&mut self) {
        self.put('r', Kind::Code);
        let mut hashes = 0_usize;
        while let Some(hash) = self.rest.next_if_eq(&'#') {
            self.put(hash, Kind::Code);
            hashes += 1;
        }
        if self.rest.next_if_eq(&'"').is_none() {
            return;
        }
        self.begin_string();
        while let Some(c) = self.rest.next() {
            let mut ahead = self.rest.clone();
            let closes = c == '"' && (0..hashes).all(|_| ahead.next() == Some('#'));
            if closes {
                return self.put('"', Kind::Code);
            }
            self.put(c, Kind::Text);
        }
    }

    /// A character literal, or the mark of a lifetime.
    fn quote(&mut self) {
        self.put('\'', Kind::Code);
        let mut ahead = self.rest.clone();
        let (first, second) = (ahead.next(), ahead.next());
        if first == Some('\\') {
            // The escaped character itself may be a quote.
            for _ in 0..2 {
                self.skip_one();
            }
        } else if second == Some('\'') {
            self.skip_one();
        } else {
            return;
        }
        while self.rest.next_if(|c| *c != '\'' && *c != '\n').is_some() {
            self.put(' ', Kind::Code);
        }
        if let Some(close) = self.rest.next_if_eq(&'\'') {
            self.put(close, Kind::Code);
        }
    }

    fn skip_one(&mut self) {
        if self.rest.next().is_some() {
            self.put(' ', Kind::Code);
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        RustText::new(text).code.join("\n")
    }

    fn strings(text: &str) -> Vec<String> {
        RustText::new(text)
            .strings
            .into_iter()
            .map(|(_, string)| string)
            .collect()
    }

    #[test]
    fn comments_and_the_insides_of_strings_are_not_code() {
        let text = "a(\"unsafe\"); // unsafe\n/* unsafe /* deeper */ unsafe */ b();";
        assert_eq!(
            code(text),
            "a(\"      \");          \n".to_owned() + &" ".repeat(32) + " b();"
        );
        let comments = RustText::new(text).comments;
        assert!(comments[0].ends_with("// unsafe") && comments[1].contains("deeper"));
    }

    #[test]
    fn strings_of_every_kind_end_where_they_end() {
        let text = r##"("a\"b", r"c\", r#"d"e"#, b"f", br"g", "h
i")"##;
        assert_eq!(strings(text), ["a\\\"b", "c\\", "d\"e", "f", "g", "h\ni"]);
        assert_eq!(RustText::new(text).code.len(), 2);
    }

    #[test]
    fn quotes_of_characters_and_lifetimes_do_not_open_strings() {
        let text = "let q = '\"'; let e = '\\''; fn f<'a>(x: &'a str) -> u8 { b'\"' } done";
        assert!(strings(text).is_empty());
        assert!(code(text).ends_with("done"));
        assert!(code(text).contains("fn f<'a>(x: &'a str)"));
    }

    #[test]
    fn a_raw_identifier_is_code() {
        assert_eq!(code("r#type = for_r\"x\""), "r#type = for_r\" \"");
    }

    #[test]
    fn a_word_is_found_by_itself_only() {
        let text = RustText::new("unsafe_code\nunsafe { }\n\"unsafe\"");
        assert_eq!(text.lines_with_word("unsafe").collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn the_test_module_ends_at_its_brace() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { '}'; \"}\"; }\n}\nfn c() {}";
        assert_eq!(RustText::new(text).test_module(), Some((1, 4)));
        assert_eq!(RustText::new("#[cfg(test)]\nfn a() {}").test_module(), None);
    }
}

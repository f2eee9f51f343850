//! The words of a definition as SQLite reads them: what stands in quotes or in a comment is no keyword, however it looks.

use std::iter::Peekable;
use std::str::CharIndices;

/// A piece of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A keyword, name or number, in capitals.
    Word(String),
    /// A name or text in quotes, without them.
    Quoted(String),
    /// Anything else.
    Sign(char),
}

impl Token {
    /// Whether it is this keyword.
    pub fn is(&self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word == keyword)
    }
}

/// The pieces of a definition.
pub(crate) fn tokens(sql: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sql.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            // At the start of a piece SQLite takes a byte order mark for a space.
            ' ' | '\t' | '\n' | '\r' | '\u{c}' | '\u{feff}' => {}
            '-' if is_next(&mut rest, '-') => skip_to_end_of_line(&mut rest),
            '/' if is_next(&mut rest, '*') => skip_comment(&mut rest),
            '\'' | '"' | '`' => tokens.push(Token::Quoted(quoted(&mut rest, c))),
            '[' => {
                tokens.push(Token::Quoted(rest.by_ref().map(|(_, c)| c).take_while(|c| *c != ']').collect()))
            }
            c if is_of_word(c) => {
                let mut end = at + c.len_utf8();
                while let Some((at, c)) = rest.next_if(|(_, c)| is_of_word(*c)) {
                    end = at + c.len_utf8();
                }
                tokens.push(Token::Word(sql.get(at..end).unwrap_or_default().to_ascii_uppercase()));
            }
            sign => tokens.push(Token::Sign(sign)),
        }
    }
    tokens
}

type Rest<'a> = Peekable<CharIndices<'a>>;

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

fn is_next(rest: &mut Rest<'_>, wanted: char) -> bool {
    rest.next_if(|(_, c)| *c == wanted).is_some()
}

fn skip_to_end_of_line(rest: &mut Rest<'_>) {
    rest.find(|(_, c)| *c == '\n');
}

fn skip_comment(rest: &mut Rest<'_>) {
    while let Some((_, c)) = rest.next() {
        if c == '*' && is_next(rest, '/') {
            return;
        }
    }
}

/// What stands up to the closing quote; a doubled one is part of it.
fn quoted(rest: &mut Rest<'_>, quote: char) -> String {
    let mut text = String::new();
    while let Some((_, c)) = rest.next() {
        if c == quote && !is_next(rest, quote) {
            break;
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn words(sql: &str) -> Vec<String> {
        let words = tokens(sql).into_iter().filter_map(|token| match token {
            Token::Word(word) => Some(word),
            Token::Quoted(_) | Token::Sign(_) => None,
        });
        words.collect()
    }

    #[test]
    fn quotes_and_comments_hide_what_stands_in_them_and_nothing_else() {
        let hidden = [
            "'it''s CHECK'",
            "\"a\"\"CHECK\"",
            "`CHECK`",
            "[CHECK ' \" ]",
            "-- CHECK '\n",
            "/* CHECK ' */",
            "/**/",
            "/* * CHECK **/",
        ];
        for quoted in hidden {
            assert_eq!(words(&format!("a {quoted} check(b)")), ["A", "CHECK", "B"], "{quoted}");
            assert_eq!(words(&format!("a{quoted}\u{feff}Check")), ["A", "CHECK"], "{quoted}");
        }
        assert_eq!(words("a_CHECK $check é-check 1 / 2"), ["A_CHECK", "$CHECK", "é", "CHECK", "1", "2"]);
        assert_eq!(words("/* CHECK"), [] as [&str; 0]);
        assert_eq!(
            tokens("x`a``b`('c"),
            [
                Token::Word("X".into()),
                Token::Quoted("a`b".into()),
                Token::Sign('('),
                Token::Quoted("c".into())
            ]
        );
    }

    /// SQLite itself says whether a CHECK is one: a row that breaks it is refused.
    #[test]
    fn a_check_is_seen_where_sqlite_sees_one() {
        let check = "CHECK (x > 5)";
        for before in ["", "'", "\"\"", "\u{feff}", "--\n", "/*", "/**/", "[a]", "`", "\u{b}", "é", "\u{a0}"]
        {
            for between in ["", " ", "\u{feff}", "/*/", "\n", "\u{2003}"] {
                let sql = format!("CREATE TABLE t (x DEFAULT 1 {before}{between}{check})");
                let connection = Connection::open_in_memory().unwrap();
                if connection.execute_batch(&sql).is_err() {
                    continue;
                }
                let is_enforced = connection.execute("INSERT INTO t DEFAULT VALUES", []).is_err();
                let kept: String =
                    connection.query_row("SELECT sql FROM sqlite_master", [], |row| row.get(0)).unwrap();
                let is_seen = tokens(&kept).iter().any(|token| token.is("CHECK"));
                assert_eq!(is_seen, is_enforced, "{sql:?}");
            }
        }
    }
}

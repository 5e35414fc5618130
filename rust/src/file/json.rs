//! JSON as far as events of tracers need it: members, elements, numbers, and texts without escapes.
//!
//! Spec: RFC 8259. What is not valid is not found.

/// A value, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(text.trim())
    }

    /// A member of an object.
    pub(super) fn member(self, name: &str) -> Option<Self> {
        let mut rest = self.0.strip_prefix('{')?;
        loop {
            let (key, behind) = first_value(rest)?;
            let (value, behind) = first_value(behind.trim_start().strip_prefix(':')?)?;
            if key.text() == Some(name) {
                return Some(value);
            }
            rest = behind.trim_start().strip_prefix(',')?;
        }
    }

    /// It is an object or array that ends.
    pub(super) fn is_whole(self) -> bool {
        let is_opened = self.0.starts_with(['{', '[']);
        is_opened && first_value(self.0).is_some_and(|(_, behind)| behind.trim().is_empty())
    }

    /// The elements of an array; anything else is one itself.
    pub(super) fn elements(self) -> Vec<Self> {
        let Some(mut rest) = self.0.strip_prefix('[') else {
            return vec![self];
        };
        let mut found = Vec::new();
        while let Some((value, behind)) = first_value(rest) {
            found.push(value);
            match behind.trim_start().strip_prefix(',') {
                Some(behind) => rest = behind,
                None => break,
            }
        }
        found
    }

    /// A number without a sign.
    pub(super) fn number(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// A text that has no escapes.
    pub(super) fn text(self) -> Option<&'a str> {
        let text = self.0.strip_prefix('"')?.strip_suffix('"')?;
        (!text.contains('\\')).then_some(text)
    }
}

/// The value that a text begins with, and what is behind it.
fn first_value(text: &str) -> Option<(Json<'_>, &str)> {
    let text = text.trim_start();
    let mut depth = 0_usize;
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, octet) in text.bytes().enumerate() {
        if is_quoted {
            is_quoted = is_escaped || octet != b'"';
            is_escaped = !is_escaped && octet == b'\\';
            if is_quoted || depth > 0 {
                continue;
            }
            return split_behind(text, at + 1);
        }
        match octet {
            b'"' => is_quoted = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return split_behind(text, at + 1),
            b'}' | b']' if depth > 1 => depth -= 1,
            b',' | b':' | b'}' | b']' if depth == 0 => return split_behind(text, at),
            _ => {}
        }
    }
    None
}

fn split_behind(text: &str, at: usize) -> Option<(Json<'_>, &str)> {
    let (value, behind) = text.split_at_checked(at)?;
    (!value.trim().is_empty()).then(|| (Json::new(value), behind))
}

/// Octets written in base64 (RFC 4648 §4); `None` where it is none.
pub(super) fn octets_of_base64(text: &str) -> Option<Vec<u8>> {
    let mut octets = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0_u32, 0_u32);
    for digit in text.trim_end_matches('=').bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, n_bits) = ((bits << 6 | u32::from(value)) & 0xffff, n_bits + 6);
        if n_bits >= 8 {
            n_bits -= 8;
            octets.push((bits >> n_bits & 0xff) as u8);
        }
    }
    Some(octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &str = r#" {"a": {"b":[1,{"c":"}\"]"},3], "d" : "x"},"n":18446744073709551615, "e\"":2,"z":null} "#;

    #[test]
    fn members_are_found_by_their_names() {
        let event = Json::new(EVENT);
        let a = event.member("a").unwrap();
        assert_eq!(a.member("d").and_then(Json::text), Some("x"));
        assert_eq!(event.member("n").and_then(Json::number), Some(u64::MAX));
        assert_eq!(
            event.member("z").map(|z| (z.number(), z.text())),
            Some((None, None))
        );
        assert_eq!(event.member("c"), None);
        let b = a.member("b").unwrap().elements();
        assert_eq!(b.len(), 3);
        assert_eq!(b[2].number(), Some(3));
        assert_eq!(b[1].member("c").and_then(Json::text), None);
        assert_eq!(event.elements(), [event]);
        assert_eq!(Json::new("[]").elements(), []);
    }

    #[test]
    fn what_is_cut_is_not_whole() {
        assert!(Json::new(EVENT).is_whole());
        assert!(Json::new("[{}, []]").is_whole());
        for text in ["", "no event", "{\"a\":1", "[1,2", "{\"a}", "{}{}", "[1]]"] {
            assert!(!Json::new(text).is_whole(), "{text}");
        }
    }

    #[test]
    fn what_is_cut_is_not_found() {
        for n in 0..EVENT.len() - 2 {
            assert_eq!(Json::new(&EVENT[..n]).member("no"), None);
            Json::new(&EVENT[..n]).elements();
        }
        for text in ["{,", "{:1}", "[,]", "{\"a\"}", "}", "\"", "{\"a\":}"] {
            assert_eq!(Json::new(text).member("a"), None, "{text}");
        }
    }

    #[test]
    fn base64_is_octets() {
        assert_eq!(octets_of_base64("TWFu").as_deref(), Some(&b"Man"[..]));
        assert_eq!(octets_of_base64("TWE=").as_deref(), Some(&b"Ma"[..]));
        assert_eq!(octets_of_base64("+/8=").as_deref(), Some(&[0xfb, 0xff][..]));
        assert_eq!(octets_of_base64("").as_deref(), Some(&[][..]));
        assert_eq!(octets_of_base64("a-b_"), None);
    }
}

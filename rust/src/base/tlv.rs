//! Fields of a type, a length and a value, octet by octet, as packet brokers write them.

/// What is left of them.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = (u8, &'a [u8]);

    /// Type and value; none at the end, or where the rest is less than its length says.
    fn next(&mut self) -> Option<Self::Item> {
        let (&[kind, n_bytes], rest) = self.0.split_first_chunk()?;
        let (value, rest) = rest.split_at_checked(n_bytes.into())?;
        self.0 = rest;
        Some((kind, value))
    }
}

impl Fields<'_> {
    /// Whether fields fill the bytes to the last one.
    pub(crate) fn are_whole(bytes: &[u8]) -> bool {
        let mut fields = Fields(bytes);
        fields.by_ref().for_each(drop);
        fields.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_each_until_the_rest_is_too_short() {
        let bytes = [1, 2, 0xAA, 0xBB, 3, 0, 4, 3, 1, 2];
        let all: Vec<(u8, &[u8])> = Fields(&bytes).collect();
        assert_eq!(all, [(1, &[0xAA, 0xBB][..]), (3, &[])]);
        assert!(Fields::are_whole(&bytes[..6]) && Fields::are_whole(&[]));
        assert!(!Fields::are_whole(&bytes) && !Fields::are_whole(&bytes[..7]));
    }
}

//! The frame check sequence of IEEE 802.3 §3.2.9, of few octets at a time.

/// For each of four octets what it does to the sum, by its place.
static TABLES: [[u32; 256]; 4] = tables();

#[expect(clippy::indexing_slicing, reason = "computed when it is compiled")]
const fn tables() -> [[u32; 256]; 4] {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let mut tables = [[0; 256]; 4];
    let mut octet = 0;
    while octet < 256 {
        let mut sum = octet;
        let mut bit = 0;
        while bit < 8 {
            sum = (sum >> 1) ^ (POLYNOMIAL * (sum & 1));
            bit += 1;
        }
        tables[0][octet as usize] = sum;
        octet += 1;
    }
    let mut place = 1;
    while place < 4 {
        let mut octet = 0;
        while octet < 256 {
            let before = tables[place - 1][octet];
            tables[place][octet] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            octet += 1;
        }
        place += 1;
    }
    tables
}

/// The sum so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crc(u32);

impl Crc {
    /// Of no octets.
    pub(crate) fn new() -> Self {
        Self(u32::MAX)
    }

    /// Takes the next octets.
    pub(crate) fn update(&mut self, octets: &[u8]) {
        let (words, rest) = octets.as_chunks();
        for word in words {
            let [a, b, c, d] = (self.0 ^ u32::from_le_bytes(*word)).to_le_bytes();
            self.0 = of(3, a) ^ of(2, b) ^ of(1, c) ^ of(0, d);
        }
        for octet in rest {
            let [low, ..] = self.0.to_le_bytes();
            self.0 = self.0 >> 8 ^ of(0, low ^ octet);
        }
    }

    /// As it stands behind a frame, its first octet the lowest.
    pub(crate) fn sum(self) -> u32 {
        !self.0
    }
}

#[inline]
fn of(place: usize, octet: u8) -> u32 {
    let table = TABLES.get(place);
    let sum = table.and_then(|table| table.get(usize::from(octet)));
    sum.copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Crc;

    #[test]
    fn it_is_the_one_that_others_compute() {
        let octets: Vec<u8> = (0..=u8::MAX).cycle().take(1_000).collect();
        for end in 0..octets.len() {
            for middle in [0, end / 3, end] {
                let (mut own, mut other) = (Crc::new(), flate2::Crc::new());
                for part in [&octets[..middle], &octets[middle..end]] {
                    own.update(part);
                    other.update(part);
                }
                assert_eq!(own.sum(), other.sum());
            }
        }
    }
}

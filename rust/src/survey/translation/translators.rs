//! Translators: addresses of which many flows are translated between two points.

use super::session::Session;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// So many sessions show a translator. One packet then shows a further session.
const MANY: usize = 20;

/// Of two points the first or the second, and an address there.
type Translated = ([u16; 2], bool, IpAddr);

/// By address, how many sessions give it another one, or another port.
#[derive(Debug, Default)]
pub(super) struct Translators(BTreeMap<Translated, usize>);

impl Translators {
    pub(super) fn of(sessions: &[Session]) -> Self {
        let mut n_of = BTreeMap::new();
        for address in sessions.iter().flat_map(translated).flatten() {
            *n_of.entry(address).or_default() += 1;
        }
        Self(n_of)
    }

    /// Whether this session is of addresses that many others have: of each end that is translated, here or there.
    pub(super) fn explain(&self, session: &Session) -> bool {
        let is_many = |address: &Translated| self.0.get(address).is_some_and(|n| *n >= MANY);
        let mut ends = translated(session).peekable();
        ends.peek().is_some() && ends.all(|end| end.iter().any(is_many))
    }
}

/// Each end that is translated: its addresses here and there.
fn translated(session: &Session) -> impl Iterator<Item = [Translated; 2]> {
    let places = session.sides.map(|side| side.place);
    let [here, there] = session.sides.map(|side| side.addresses);
    let ends = [(here.src, there.src), (here.dst, there.dst)].into_iter();
    let ends = ends.filter(|(here, there)| here != there);
    ends.map(move |(here, there)| [(places, false, here.0), (places, true, there.0)])
}

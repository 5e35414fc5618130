//! Layers by id and by name.

use super::{LAYERS, Layer, MAX_LAYERS, Packet, esp, macsec, wireguard};
use crate::base::error::{Error, Result};

#[inline]
pub(super) fn layer(id: u8) -> Option<&'static Layer> {
    LAYERS.get(usize::from(id).wrapping_sub(1)).copied()
}

/// The name of a layer; empty for an id that no layer has.
#[must_use]
pub fn layer_name(id: u8) -> &'static str {
    layer(id).map_or("", |layer| layer.name)
}

/// Whether nothing can be read behind a layer: it is encrypted.
#[must_use]
#[inline]
pub fn is_opaque(id: u8) -> bool {
    is_any(id, [&esp::LAYER, &wireguard::LAYER])
}

/// Whether a layer is encrypted, be it a link's, whose data are what the frame carries.
#[must_use]
#[inline]
pub fn is_encrypted(id: u8) -> bool {
    is_opaque(id) || is_any(id, [&macsec::LAYER])
}

#[inline]
fn is_any<const N: usize>(id: u8, of: [&Layer; N]) -> bool {
    layer(id).is_some_and(|layer| of.iter().any(|one| std::ptr::eq(layer, *one)))
}

/// The names of a packet's layers, outermost first: `ethernet/ipv4/udp/vxlan/ethernet/ipv4/tcp`.
#[must_use]
pub fn layer_path(packet: &Packet) -> String {
    let ids = packet.layers.iter().take(packet.n_layers.min(MAX_LAYERS));
    ids.map(|id| layer_name(*id)).collect::<Vec<_>>().join("/")
}

pub(super) fn id_of(name: &str) -> Result<u8> {
    let found = (1..).zip(LAYERS).find(|(_, layer)| layer.name == name);
    found.map(|(id, _)| id).ok_or_else(|| {
        let names: Vec<&str> = LAYERS.iter().map(|layer| layer.name).collect();
        let nearest = nearest(names.iter().copied(), name);
        let known = names.join(", ");
        Error::Argument(format!(
            "no layer is called {name:?}; did you mean {nearest:?}? There are: {known}"
        ))
    })
}

/// The one of `names` that is most like `name`.
pub(super) fn nearest<'a>(names: impl Iterator<Item = &'a str>, name: &str) -> &'a str {
    names
        .min_by_key(|known| distance(known, name))
        .unwrap_or_default()
}

/// Levenshtein's distance of two words.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (n_before, from_octet) in from.bytes().enumerate() {
        let mut diagonal = n_before;
        let mut left = n_before + 1;
        for (cell, to_octet) in row.iter_mut().skip(1).zip(to.bytes()) {
            let replaced = diagonal + usize::from(from_octet != to_octet);
            diagonal = *cell;
            *cell = replaced.min(left + 1).min(diagonal + 1);
            left = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = n_before + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{Decoder, Parent};
    use super::*;

    #[test]
    fn no_two_layers_have_the_same_name() {
        for (id, layer) in (1..).zip(LAYERS) {
            assert_eq!(id_of(layer.name).ok(), Some(id), "{}", layer.name);
        }
    }

    #[test]
    fn what_is_encrypted_is_opaque() {
        let names = |is_one: fn(u8) -> bool| -> Vec<&str> {
            let all = (0..=u8::MAX).filter(|id| is_one(*id));
            all.map(layer_name).collect()
        };
        assert_eq!(names(is_opaque), ["esp", "wireguard"]);
        assert_eq!(names(is_encrypted), ["esp", "macsec", "wireguard"]);
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        let Err(Error::Argument(text)) = Decoder::new(&[(Parent::UdpDst(1), "vxlam")]) else {
            panic!("a wrong name was accepted")
        };
        assert!(
            text.contains("\"vxlam\"; did you mean \"vxlan\"? There are: ah, "),
            "{text}"
        );
    }

    #[test]
    fn measures_the_distance_of_words() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}

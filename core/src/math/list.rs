//! Insertion into and removal from lists and rows, by moving the elements behind one place.
//!
//! **Choices.** heapless has both, but they panic past the end; these cannot, and they link no panic into a firmware image.
//!
//! **Cost.** One move an element behind the place.

use heapless::Vec;

/// Puts an element at a place, the ones from there on one further. False, and nothing changed, if there is no room.
pub(crate) fn insert<E: Copy, const N: usize>(list: &mut Vec<E, N>, place: usize, element: E) -> bool {
    let room = list.push(element).is_ok();
    if room {
        let mut carried = element;
        list.iter_mut().skip(place).for_each(|own| core::mem::swap(own, &mut carried));
    }
    room
}

/// Takes the element at a place out, the ones behind it one back. Nothing happens past the end.
pub(crate) fn remove<E: Copy, const N: usize>(list: &mut Vec<E, N>, place: usize) {
    if place < list.len() {
        close_gap(list, place);
        list.pop();
    }
}

/// Moves the elements behind a place one back, and the one at the place to the end. Swapping keeps the compiler from
/// calling `memmove`, which would be 1.5 KB of flash.
pub(crate) fn close_gap<E>(list: &mut [E], place: usize) {
    let mut behind = list.iter_mut().skip(place);
    if let Some(mut to) = behind.next() {
        for from in behind {
            core::mem::swap(to, from);
            to = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_a_growing_list_would() {
        let mut list: Vec<u8, 4> = Vec::new();
        for (place, element) in [(0, 1), (0, 2), (1, 3), (9, 4)] {
            assert!(insert(&mut list, place, element));
        }
        assert_eq!(list, [2, 3, 1, 4]);
        assert!(!insert(&mut list, 0, 5));
        remove(&mut list, 1);
        remove(&mut list, 7);
        assert_eq!(list, [2, 1, 4]);
        remove(&mut list, 2);
        remove(&mut list, 0);
        assert_eq!(list, [1]);
    }
}

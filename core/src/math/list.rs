//! Insertion into and removal from lists and rows, by moving the elements behind the index.
//!
//! **Choices**
//! - heapless has both, but they panic past the end; these cannot, so they link no panic into
//!   firmware.
//!
//! **Cost.** One move per element behind the index.

use heapless::Vec;

/// Inserts an element at an index and moves those from there on back by one. Returns false and
/// changes nothing if the list is full.
pub(crate) fn insert<E: Copy, const N: usize>(list: &mut Vec<E, N>, index: usize, element: E) -> bool {
    let room = list.push(element).is_ok();
    if room {
        let mut carried = element;
        list.iter_mut().skip(index).for_each(|own| core::mem::swap(own, &mut carried));
    }
    room
}

/// Removes the element at an index and closes the gap. Does nothing past the end.
pub(crate) fn remove<E: Copy, const N: usize>(list: &mut Vec<E, N>, index: usize) {
    if index < list.len() {
        close_gap(list, index);
        list.pop();
    }
}

/// Moves the element at an index to the end and those behind it forward by one. Swapping keeps the
/// compiler from calling `memmove`, which would be 1.5 KB of flash.
pub(crate) fn close_gap<E>(list: &mut [E], index: usize) {
    let mut behind = list.iter_mut().skip(index);
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
    fn inserts_and_removes_like_a_growable_list() {
        let mut list: Vec<u8, 4> = Vec::new();
        for (index, element) in [(0, 1), (0, 2), (1, 3), (9, 4)] {
            assert!(insert(&mut list, index, element));
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

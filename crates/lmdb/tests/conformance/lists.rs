//! The id lists and pair lists that old programs import.

use crate::compare;
use crate::world::say;

/// The words of an id list: the length, then the ids.
fn words(list: *const usize) -> Vec<usize> {
    // SAFETY: the first word of a list is its length.
    let len = unsafe { *list };
    // SAFETY: as many ids as the length states follow it.
    unsafe { std::slice::from_raw_parts(list, len + 1) }.to_vec()
}

#[test]
fn id_lists_behave_as_in_lmdb() {
    compare(|world| {
        let api = world.api;
        let mut list = api.midl_alloc(4);
        for id in [5, 9, 1] {
            say!(world, "append {}", api.midl_append(&mut list, id));
        }
        api.midl_sort(list);
        say!(
            world,
            "append_range {}",
            api.midl_append_range(&mut list, 20, 3)
        );
        say!(world, "{:?}", words(list));
        api.midl_sort(list);
        say!(world, "{:?}", words(list));
        for id in [0, 1, 4, 5, 6, 21, 22, 23] {
            say!(world, "search {id} {}", api.midl_search(list, id));
        }
        let mut other = api.midl_alloc(8);
        for id in [30, 21, 7, 0] {
            api.midl_append(&mut other, id);
        }
        say!(world, "need {}", api.midl_need(&mut list, 100));
        api.midl_xmerge(list, other);
        say!(world, "{:?}", words(list));
        say!(
            world,
            "append_list {}",
            api.midl_append_list(&mut list, other)
        );
        say!(world, "{:?}", words(list));
        api.midl_shrink(&mut list);
        say!(world, "{:?}", words(list));
        api.midl_free(list);
        api.midl_free(other);
        api.midl_free(std::ptr::null_mut());
    });
}

#[test]
fn pair_lists_behave_as_in_lmdb() {
    compare(|world| {
        let api = world.api;
        let mut pairs = vec![[0usize; 2]; 1 << 17];
        for id in [50, 10, 30, 10, 70, 20] {
            let mut pair = [id, id + 1];
            let code = api.mid2l_insert(pairs.as_mut_ptr(), &mut pair);
            say!(world, "insert {id} {code}");
        }
        let code = api.mid2l_append(pairs.as_mut_ptr(), &mut [90, 1]);
        say!(world, "append {code} {:?}", &pairs[..=pairs[0][0]]);
        for id in [0, 10, 11, 70, 90, 91] {
            let at = api.mid2l_search(pairs.as_mut_ptr(), id);
            say!(world, "search {id} {at}");
        }
        pairs[0][0] = (1 << 17) - 1;
        let full = (
            api.mid2l_append(pairs.as_mut_ptr(), &mut [1 << 40, 0]),
            api.mid2l_insert(pairs.as_mut_ptr(), &mut [1 << 40, 0]),
        );
        say!(world, "full {full:?}");
    });
}

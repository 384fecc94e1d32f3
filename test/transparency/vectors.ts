/** Entries, in hex, and the roots of the trees of the first 0, 1 … 8 of them: transparency-dev/merkle, testonly/constants.go. */
export const merkleEntries = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
]
export const merkleRoots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

/**
 * Proofs in a tree of seven entries, as nodes of it: RFC 6962, section 2.1.3. A node is `[first entry, entries below it]`.
 */
export const rfcInclusion: readonly [index: number, proof: [number, number][]][] = [
  [
    0,
    [
      [1, 1],
      [2, 2],
      [4, 3],
    ],
  ],
  [
    3,
    [
      [2, 1],
      [0, 2],
      [4, 3],
    ],
  ],
  [
    4,
    [
      [5, 1],
      [6, 1],
      [0, 4],
    ],
  ],
  [
    6,
    [
      [4, 2],
      [0, 4],
    ],
  ],
]
export const rfcConsistency: readonly [before: number, proof: [number, number][]][] = [
  [
    3,
    [
      [2, 1],
      [3, 1],
      [0, 2],
      [4, 3],
    ],
  ],
  [4, [[4, 3]]],
  [
    6,
    [
      [4, 2],
      [6, 1],
      [0, 4],
    ],
  ],
]

/** A note with its key: C2SP signed-note, and golang.org/x/mod/sumdb/note, whose example it is. */
export const signedNote = {
  name: 'PeterNeumann',
  secret: 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz',
  key: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  note:
    'If you think cryptography is the answer to your problem,\n' +
    "then you don't know what your problem is.\n\n" +
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
}

/** Sizes with the tiles that they have, per level how many are full and the width of the last: C2SP tlog-tiles. */
export const tilesOfSize = { size: 70_000, full: [273, 1, 0], partial: [112, 17, 1] }

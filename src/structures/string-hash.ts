// String hash: 32-bit hashes under a secret, so that no client can choose many strings with one hash.

export type StringHash = (...strings: readonly string[]) => number;

/** The secrets are random 32-bit integers. The hash of several strings keeps them apart. */
export function createStringHash(seed: number, added: number): StringHash {
  return (...strings) => {
    let hash = seed;
    for (const string of strings) {
      for (let i = 0; i < string.length; i++) {
        hash = Math.imul((hash ^ string.charCodeAt(i)) + added, 0x9e37_79b1);
        hash ^= hash >>> 15;
      }
      hash = Math.imul(hash ^ string.length, 0x85eb_ca6b);
    }
    hash ^= hash >>> 13;
    hash = Math.imul(hash, 0xc2b2_ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  };
}

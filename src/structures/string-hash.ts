// String hash: 32-bit hashes under a secret, so that no client can choose many strings with one hash.

export type StringHash = (first: string, second?: string) => number;

/** The secrets are random 32-bit integers. The hash of two strings keeps them apart. */
export function createStringHash(seed: number, added: number): StringHash {
  function mixed(before: number, string: string): number {
    let hash = before;
    for (let i = 0; i < string.length; i++) {
      hash = Math.imul((hash ^ string.charCodeAt(i)) + added, 0x9e37_79b1);
      hash ^= hash >>> 15;
    }
    return Math.imul(hash ^ string.length, 0x85eb_ca6b);
  }

  return (first, second) => {
    let hash = mixed(seed, first);
    if (second !== undefined) hash = mixed(hash, second);
    hash ^= hash >>> 13;
    hash = Math.imul(hash, 0xc2b2_ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  };
}

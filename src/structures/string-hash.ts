// Hashes of strings under a secret, and texts of any length as keys, so that no client can choose many that collide.
import { hash } from 'node:crypto';

type StringHash = (first: string, second?: string) => number;

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

// Text key: a text of any length as a key of a Map or Set, found in a time that does not depend on other keys.

/**
 * V8 hashes a longer string by its length alone, and looking one up in any Map, Set or object enters
 * it in a table of the whole process: there, all of one length are compared character by character.
 */
const hashedLengthMax = 16_383;

/** The text itself, or of a long one its length and digest. */
export function textKey(text: string): string {
  if (text.length <= hashedLengthMax) return text;
  return `\0${text.length} ${hash('sha256', text, 'base64')}`;
}

// Text key: a text of any length as a key of a Map or Set, found in a time that does not depend on other keys.
import { hash } from 'node:crypto';

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

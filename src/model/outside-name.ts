// Names from outside: device ids, topics, data keys, tags and others are limited before they become a key (interface 2.3, contract 42).
import { problem } from './problem.ts';

/** Characters of a name; no longer one becomes a key of anything, nor is looked up. */
export const outsideNameMax = 500;
const shownLengthMax = 40;

export function isLongName(name: string): boolean {
  return name.length > outsideNameMax;
}

/** Says that the name of `member` is too long. Call it only for such a name. */
export function longNameReason(member: string, name: string): string {
  return `${member} has ${name.length} characters; up to ${outsideNameMax} are permitted: ${name.slice(0, shownLengthMax)}…`;
}

/** Throws Problem 400 for a name that is too long. */
export function refuseLongName(member: string, name: string): void {
  if (isLongName(name)) throw problem('nameTooLong', { reason: longNameReason(member, name) });
}

/** The name as messages show it, cut when it is too long. */
export function cutName(name: string): string {
  return isLongName(name) ? `${name.slice(0, outsideNameMax)}…` : name;
}

// Stand-in for a data key or topic that is too long to become a key (contract 42).

/**
 * What stands for a name that is too long until validation, which takes it for an invalid topic or
 * data key and notes its first 500 characters (interface 2.3). Names that differ later differ in
 * their check sum; it is no protection from names that were made to agree, which only replace each
 * other.
 */
export function standInName(name: string): string {
  if (!isLongName(name)) return name;
  return `${cutName(name)}${checkSum(name, 0x811c9dc5)}${checkSum(name, 0x01000193)}`;
}

/** FNV-1a over code units, from the start value: eight hexadecimal digits. Browsers have no `hash`. */
function checkSum(text: string, start: number): string {
  let sum = start;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return (sum >>> 0).toString(16).padStart(8, '0');
}

// Topic check of interface 2.3 in linear time, because the printed expression backtracks exponentially.

/**
 * Whether the string is a topic. Accepts exactly what
 * `^[a-zA-Z0-9]([a-zA-Z0-9]+(\.|:|-|_)?)*[a-zA-Z0-9]+$` accepts: a first run of at least two
 * alphanumeric characters, then any number of runs of at least one, with single separators between
 * them; at most 500 characters (contract 42).
 */
export function isTopic(text: string): boolean {
  if (isLongName(text)) return false;
  let run = 0;
  let runMin = 2;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isAlphanumeric(code)) {
      run++;
    } else if (run >= runMin && isSeparator(code)) {
      run = 0;
      runMin = 1;
    } else {
      return false;
    }
  }
  return run >= runMin;
}

/** ASCII letters and digits only: `é` and the Arabic digits are none. */
export function isAlphanumeric(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90);
}

/** `.`, `:`, `-` or `_`. */
function isSeparator(code: number): boolean {
  return code === 46 || code === 58 || code === 45 || code === 95;
}

// Password rules: the passwords that are guessed first are rejected with a reason (NIST SP 800-63B section 5.1.1.2).
import { commonPasswords } from './common-passwords.ts';

const passwordLength = { min: 10, max: 200 } as const;
const distinctMin = 5;
/** Parts of addresses and names from this length on count. */
const addressPartMin = 4;
/** Characters that must be left beside what is common. */
const ownCharactersMin = 5;
const keyboardRows = [
  '1234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
];

/** In every installation. */
const productWords = ['heliograph'];

/**
 * Why the password is too easily guessed; undefined for a good one. `names`: of the user and of the
 * organizations.
 */
export function passwordWeakness(
  password: string,
  email: string,
  names: readonly string[] = [],
): string | undefined {
  const { min, max } = passwordLength;
  if (password.length < min || password.length > max)
    return `it must be ${min} to ${max} characters long`;
  const text = password.toLowerCase();
  if (new Set(text).size < distinctMin)
    return `it must contain at least ${distinctMin} different characters`;
  if (/^(.{1,6})\1+.{0,2}$/.test(text)) return 'it repeats a short pattern';
  if (isSequence(text)) return 'it is a keyboard or number sequence, such as 12345 or qwert';
  if (isCommon(text)) return 'it is a commonly used password';
  if (isMadeOf(text, [email])) return 'it is too similar to the email address';
  if (isMadeOf(text, [...productWords, ...names]))
    return 'it is made of the name of the user, an organization or this product';
  return undefined;
}

function isSequence(text: string): boolean {
  let steps = 0;
  for (let at = 1; at < text.length; at += 1)
    if (areNeighbors(text.charAt(at - 1), text.charAt(at))) steps += 1;
  return steps >= (3 / 4) * (text.length - 1);
}

function areNeighbors(first: string, second: string): boolean {
  if (Math.abs(first.charCodeAt(0) - second.charCodeAt(0)) <= 1) return true;
  return keyboardRows.some((row) => row.includes(first + second) || row.includes(second + first));
}

const lookalikes: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/**
 * As it is, with letters for the digits that look like them, and without the digits and signs at
 * its ends.
 */
function isCommon(text: string): boolean {
  const bare = (word: string) => word.replace(/^[^a-z]+|[^a-z]+$/g, '');
  const spelled = withLetters(text);
  const core = bare(text);
  const inner = withLetters(core);
  return [text, spelled, core, inner, bare(spelled)].some((word) => commonPasswords.has(word));
}

function withLetters(text: string): string {
  return text.replace(/[013457@$!]/g, (sign) => lookalikes[sign] ?? sign);
}

/** Also with digits and signs in place of the letters that they look like. */
function isMadeOf(text: string, names: readonly string[]): boolean {
  const parts = names
    .map((name) => name.toLowerCase())
    .flatMap((name) => [name, name.replace(/\s+/g, ''), ...name.split(/[^\p{L}\p{N}]+/u)])
    .filter((part) => part.length >= addressPartMin)
    .toSorted((first, second) => second.length - first.length);
  return [text, withLetters(text)].some((spelled) => {
    let left = spelled;
    for (const part of parts) left = left.replaceAll(part, '');
    return left !== spelled && left.replace(/[^\p{L}]/gu, '').length < ownCharactersMin;
  });
}

// Stand-in for a data key or topic that is too long to become a key (contract 42).
import { cutName, isLongName } from './outside-name.ts';

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

// Names from outside: device ids, topics, data keys, tags and others are limited before they become a key (contract 42).
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

// Window times: the instant of a time that a field of date and time shows in a zone.
import { instantOfLocal, localOf } from '../../../words/zone-times.ts';

/** What was not changed stays as it was: seconds, and which of two hours when clocks change. */
export function instantOf(local: string, zone: string, before?: string): string {
  if (before !== undefined && localOf(before, zone) === local) return before;
  return instantOfLocal(local, zone);
}

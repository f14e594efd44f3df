// Newest: which times count as newest. A sample of a clock in the future must not hide what comes after it (contract 42).
import { dayMs, type EpochMs } from './instant.ts';

/** Samples dated later than this are kept, and are newest to nothing: no rule, list or page. */
export function newestUntil(now: EpochMs): EpochMs {
  return now + dayMs;
}

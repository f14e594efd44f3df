// Records errors: errors of SQLite and the disk as problems of the catalog.
import { type Problem, problem } from '../../../model/problem.ts';

// Result codes of SQLite: the lower byte of its extended codes.
const busy = 5;
const locked = 6;
const ioError = 10;
const full = 13;

function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** Whether another connection held the lock; what was asked was not begun. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === busy || code === locked;
}

/**
 * `storageFull` (507), `recordsFailed` or `recordsBusy` (503) with the error as their cause; any
 * other error as it is.
 */
export function recordsError(error: unknown): unknown {
  const code = resultCode(error);
  let refusal: Problem | undefined;
  if (code === full) refusal = problem('storageFull');
  else if (code === ioError)
    refusal = problem('recordsFailed', { reason: (error as Error).message });
  else if (isBusy(error)) refusal = problem('recordsBusy');
  return refusal === undefined ? error : Object.assign(refusal, { cause: error });
}

/** `recordsStopped` (503) with the failed sync as its cause. */
export function recordsStopped(cause: Error): Problem {
  return Object.assign(problem('recordsStopped', { reason: cause.message }), { cause });
}

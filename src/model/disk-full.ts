// Disk full: recognizes the error of the operating system, of SQLite, and a problem created from one of them.
import { Problem } from './problem.ts';

const systemCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
/** SQLITE_FULL. */
const sqliteFull = 13;

/** Whether the error, or what caused it, means that there is no room left. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof Problem) return error.status === 507;
  if (error instanceof AggregateError)
    return error.errors.length > 0 && error.errors.every(isDiskFull);
  if (!(error instanceof Error)) return false;
  const { code, errcode, cause } = error as Error & {
    readonly code?: unknown;
    readonly errcode?: unknown;
  };
  if (typeof code === 'string' && systemCodes.has(code)) return true;
  return errcode === sqliteFull || (cause !== undefined && isDiskFull(cause));
}

// Errors: problems with a stable code, which code throws by the name of its row and the HTTP edge answers; and other errors that are told apart.
import { problems } from './problem-table.ts';

type Details = Readonly<Record<string, string | number | boolean | null | readonly unknown[]>>;

export type ProblemName = keyof typeof problems;
type DetailsOf<N extends ProblemName> = (typeof problems)[N]['message'] extends (
  details: infer D,
) => string
  ? [D]
  : [];

/**
 * A row of the table with its details: invalid input or a missing permission, never an internal
 * error.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly problem: ProblemName;
  readonly details: Details;

  constructor(problem: ProblemName, details: Details, message: string) {
    super(message);
    this.problem = problem;
    this.details = details;
  }

  get status(): number {
    return problems[this.problem].status;
  }

  get code(): string {
    return problems[this.problem].code;
  }
}

/** Creates the Problem of a row: `throw problem('notFound', { what: 'device', id })`. */
export function problem<N extends ProblemName>(name: N, ...args: DetailsOf<N>): Problem {
  const { message } = problems[name];
  const details = (args[0] ?? {}) as Details;
  if (typeof message === 'string') return new Problem(name, details, message);
  return new Problem(name, details, (message as (details: Details) => string)(details));
}

// Refusal: a Problem as a value, as it crosses from one node to another.

export interface Refusal {
  readonly problem: ProblemName;
  readonly details: Problem['details'];
  readonly message: string;
}

/** Rethrows what is not a Problem. */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof Problem)) throw error;
  const { problem, details, message } = error;
  return { problem, details, message };
}

export function problemOf({ problem, details, message }: Refusal): Problem {
  return new Problem(problem, details, message);
}

export function isRefused<T extends object>(answer: T | Refusal): answer is Refusal {
  return 'problem' in answer;
}

// Errors that are told apart: files of another version, unreadable records, a full disk; and the message of any thrown value.

/** A file has a format that this program does not read. */
export class OtherFormatError extends Error {
  override readonly name = 'OtherFormatError';
}

/**
 * Throws OtherFormatError for a format other than `known`. A greater one is of a newer version; a
 * smaller one, or none, is of a development version, because no release wrote it.
 */
export function refuseOtherFormat(path: string, format: number | undefined, known: number): void {
  if (format === known) return;
  if (format !== undefined && format > known)
    throw new OtherFormatError(
      `${path} was written by a newer version (format ${format}; this version supports ${known}). Start that version, or restore an earlier backup.`,
    );
  throw new OtherFormatError(
    `${path} was written by a development version before release 0.2.0, which releases cannot read. Set DATA_DIR to an empty folder, or start that version to export your data.`,
  );
}

// Unreadable record: a record that a wrong secrets key or damage makes unusable; work for other tenants continues.

export class UnreadableRecord extends Error {}

// Disk full: recognizes the error of the operating system, of SQLite, and a problem created from one of them.

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

// Error message: the message of a thrown value, because external code can throw any value.

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

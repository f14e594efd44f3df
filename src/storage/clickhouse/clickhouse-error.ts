// ClickHouse error: why a statement has no result, as a kind that callers can decide by.

/**
 * `unreachable`: no connection, or it ended before the answer. `timeout`: no answer in time. `busy`:
 * the server is out of memory, time or places for queries. `refused`: the server does not accept the
 * statement.
 */
export type ClickHouseFailure = 'unreachable' | 'timeout' | 'busy' | 'refused';

export class ClickHouseError extends Error {
  override readonly name = 'ClickHouseError';
  readonly failure: ClickHouseFailure;
  /** The number of the server's error; undefined without an answer. */
  readonly code: number | undefined;
  /** Whether the statement may have had its effect, or may have it later. */
  readonly isDoubtful: boolean;

  constructor(
    failure: ClickHouseFailure,
    message: string,
    { code, isDoubtful = false }: { readonly code?: number; readonly isDoubtful?: boolean } = {},
  ) {
    super(message);
    this.failure = failure;
    this.code = code;
    this.isDoubtful = isDoubtful;
  }
}

/** Whether rows may be stored, now or later, although their insert failed with this. */
export function mayHaveBeenStored(error: unknown): boolean {
  return !(error instanceof ClickHouseError) || error.isDoubtful;
}

/** Whether the same statement may succeed later, or at another replica. */
export function isTemporary(error: unknown): boolean {
  return error instanceof ClickHouseError && error.failure !== 'refused';
}

/**
 * Time exceeded, too many queries, sockets, memory, parts, a table that is read only because
 * ZooKeeper is away, or no ZooKeeper.
 */
const busyCodes = new Set([159, 202, 203, 209, 210, 216, 225, 236, 241, 242, 252, 999]);
/** Of them, those after which nothing was stored. */
const withoutEffect = new Set([202, 216, 225, 242, 252]);

/** The error of an answer: `Code: 60, e.displayText() = DB::Exception: ...`. */
export function answeredError(place: string, text: string): ClickHouseError {
  const number = /^Code: (\d+)/.exec(text)?.[1];
  const code = number === undefined ? undefined : Number(number);
  const failure = code === undefined || busyCodes.has(code) ? 'busy' : 'refused';
  const isDoubtful = failure === 'busy' && (code === undefined || !withoutEffect.has(code));
  const words = text.slice(0, 500).trim().replaceAll(/\s+/g, ' ');
  return new ClickHouseError(failure, `${place}: ${words}`, {
    ...(code !== undefined && { code }),
    isDoubtful,
  });
}

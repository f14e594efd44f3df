// HTTP messages between the main thread and the thread of the HTTP client, one per turn and direction.
import { EgressRefused, type HostCheckOptions } from './host-check.ts';
import type { HttpAnswer, HttpCall } from './http-exchange.ts';

/** What the thread is started with. */
export type HttpThreadStart = HostCheckOptions;

export interface ToHttpThread {
  readonly calls: readonly (readonly [id: number, call: HttpCall])[];
  /** Calls that are ended without an answer. */
  readonly stopped: readonly number[];
}

export type FromHttpThread = readonly (readonly [id: number, result: HttpAnswer | SentError])[];

interface SentError {
  readonly error: {
    readonly name: string;
    readonly message: string;
    readonly code?: string;
    /** Of EgressRefused. */
    readonly refused?: readonly [host: string, reason: string];
  };
  readonly cause?: SentError;
  /** Of AggregateError. */
  readonly errors?: readonly SentError[];
}

const errorLimits = { depthMax: 5, errorsMax: 8 } as const;

export function packError(thrown: unknown, depth = 1): SentError {
  if (!(thrown instanceof Error)) return { error: { name: 'Error', message: String(thrown) } };
  const { name, message, cause } = thrown;
  const { code } = thrown as NodeJS.ErrnoException;
  const isDeep = depth >= errorLimits.depthMax;
  return {
    error: {
      name,
      message,
      ...(code !== undefined && { code: String(code) }),
      ...(thrown instanceof EgressRefused && { refused: [thrown.host, thrown.reason] }),
    },
    ...(cause instanceof Error && !isDeep && { cause: packError(cause, depth + 1) }),
    ...(thrown instanceof AggregateError && {
      errors: thrown.errors
        .slice(0, isDeep ? 0 : errorLimits.errorsMax)
        .map((one) => packError(one, depth + 1)),
    }),
  };
}

/** The error with its class, if it is one that callers look for. */
export function unpackError({ error, cause, errors }: SentError): Error {
  const { name, message, code, refused } = error;
  const options = cause === undefined ? {} : { cause: unpackError(cause) };
  if (refused !== undefined) return new EgressRefused(...refused);
  const made =
    errors === undefined
      ? new Error(message, options)
      : new AggregateError(errors.map(unpackError), message, options);
  return Object.assign(made, { name, ...(code !== undefined && { code }) });
}

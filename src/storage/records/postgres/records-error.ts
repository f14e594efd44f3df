// Errors of PostgreSQL and of its connections as problems of the catalog.
import { Problem, problem } from '../../../model/problem.ts';

type Translate = (reason: string) => Problem;

/** Without the reason: addresses of the operator's network are not for clients. */
const unreachable: Translate = () => problem('recordsUnreachable');
const busy: Translate = () => problem('recordsBusy');
const failed: Translate = (reason) => problem('recordsFailed', { reason });

/** By SQLSTATE, or its class of two characters. */
const bySqlState: Readonly<Record<string, Translate>> = {
  '53100': () => problem('storageFull'),
  // Classes: connection exception, insufficient resources, and operator intervention.
  '08': unreachable,
  '53': unreachable,
  '57P': unreachable,
  // A statement or a wait for a lock took too long, or two transactions met.
  '57014': busy,
  '55P03': busy,
  '25P03': busy,
  '40001': busy,
  '40P01': busy,
  // A standby, or a server that must not be written.
  '25006': unreachable,
  // System error and damaged data.
  '58': failed,
  XX001: failed,
  XX002: failed,
};

/** Errors of sockets, and those of the client library, which have no code. */
const lostCodes = new Set<unknown>([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EHOSTDOWN',
]);
const lostMessage =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|timeout expired|Query read timeout)/;

/** Whether the connection is gone, so that the outcome of a running statement is unknown. */
export function isLost(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isLost);
  if (!(error instanceof Error)) return false;
  const { code } = error as Error & { readonly code?: unknown };
  return (
    lostCodes.has(code) || lostMessage.test(error.message) || translatorOf(code) === unreachable
  );
}

/**
 * `storageFull` (507), `recordsUnreachable`, `recordsFailed` or `recordsBusy` (503) with the error
 * as their cause; any other error as it is.
 */
export function recordsError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Problem) return error;
  const { code } = error as Error & { readonly code?: unknown };
  const translate = isLost(error) ? unreachable : translatorOf(code);
  if (translate === undefined) return error;
  return Object.assign(translate(reasonOf(error)), { cause: error });
}

function translatorOf(code: unknown): Translate | undefined {
  if (typeof code !== 'string' || code.length !== 5) return undefined;
  return bySqlState[code] ?? bySqlState[code.slice(0, 3)] ?? bySqlState[code.slice(0, 2)];
}

/** Several addresses of a host fail with an error each, and no words for all. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error)
    return error.errors[0].message;
  return error.message;
}

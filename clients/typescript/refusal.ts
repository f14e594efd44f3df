// Refusal: an answer other than success, or none, as an error with what the platform says of it.
import type { Answer } from './idle-limit.ts';

export interface RefusalDetails {
  /** 0 without an answer. */
  readonly status: number;
  /** Stable, such as `40400_NOT_FOUND`; empty without one. */
  readonly errorCode: string;
  /** For support: the log of the platform has it. */
  readonly requestId: string;
  /** The whole body of the answer. */
  readonly body: unknown;
}

export class HeliographError extends Error implements RefusalDetails {
  override readonly name = 'HeliographError';
  readonly status: number;
  readonly errorCode: string;
  readonly requestId: string;
  readonly body: unknown;

  constructor(message: string, details: RefusalDetails, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = details.status;
    this.errorCode = details.errorCode;
    this.requestId = details.requestId;
    this.body = details.body;
  }
}

/** The error of an answer. `what` is the method and the path. */
export function refusalOf(
  what: string,
  { status, headers }: Answer,
  body: unknown,
): HeliographError {
  const about: Readonly<Record<string, unknown>> =
    typeof body === 'object' && body !== null ? { ...body } : {};
  const { message, errorCode, requestId } = about;
  const said = typeof message === 'string' ? message : String(body).slice(0, 200);
  return new HeliographError(`${what}: ${status} ${said}`, {
    status,
    errorCode: typeof errorCode === 'string' ? errorCode : '',
    requestId: typeof requestId === 'string' ? requestId : (headers.get('x-request-id') ?? ''),
    body,
  });
}

export function unreachable(what: string, cause: unknown): HeliographError {
  const reason = cause instanceof Error ? causeOf(cause) : String(cause);
  const details = { status: 0, errorCode: '', requestId: '', body: undefined };
  return new HeliographError(`${what}: no answer: ${reason}`, details, cause);
}

/** The message of `fetch` says only that it failed. */
function causeOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

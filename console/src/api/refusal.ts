// Refusals: what the platform answered instead of the thing that was asked for (interface 7).
import { shownLanguage } from '../words/language.tsx';
import { apiWords } from './api-words.ts';

interface ErrorBody {
  readonly message?: unknown;
  readonly errorCode?: unknown;
  readonly requestId?: unknown;
}

/** An answer other than 2xx, or none at all (status 0). */
export class Refusal extends Error {
  readonly status: number;
  /** Stable name of the problem, such as `permissionDenied`. */
  readonly errorCode: string | undefined;
  /** Finds the request in the log of the platform. */
  readonly requestId: string | undefined;

  constructor(status: number, message: string, errorCode?: string, requestId?: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.errorCode = errorCode;
    this.requestId = requestId;
  }

  static of(response: Response, body: unknown): Refusal {
    const { message, errorCode, requestId } = (body ?? {}) as ErrorBody;
    return new Refusal(
      response.status,
      stringOr(message) ?? response.statusText,
      stringOr(errorCode),
      stringOr(requestId) ?? response.headers.get('x-request-id') ?? undefined,
    );
  }

  static unreachable(): Refusal {
    return new Refusal(0, apiWords[shownLanguage()].unreachable);
  }
}

const stringOr = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

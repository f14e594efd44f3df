// CoAP errors: the error body of interface 7 for a CoAP request, and what the log says of it.
import { randomUUID } from 'node:crypto';
import { Problem, problem } from '../../model/problem.ts';
import { type ErrorBody, errorBody, traceIdOf } from './error-body.ts';
import type { EdgeEvents } from './reports.ts';

type CoapEvents = Pick<EdgeEvents, 'failed' | 'credentialRefused'>;

/**
 * Returns the body of an error; `sender` is address and port. An error that is not a Problem is
 * logged as internal.
 */
export function createCoapErrors(
  events: CoapEvents,
  now: () => number,
): (error: unknown, path: string, sender: string) => ErrorBody {
  return (error, path, sender) => {
    const request = { path, requestId: randomUUID(), traceId: traceIdOf(undefined) };
    if (!(error instanceof Problem)) {
      const body = errorBody(problem('internal'), request, now());
      events.failed(error, { ...request, errorId: body.errorId });
      return body;
    }
    if (error.status === 401) {
      const [address = ''] = sender.split(' ');
      const route = 'CoAP /v3/capture';
      events.credentialRefused?.({ address, route, reason: error.problem });
    }
    return errorBody(error, request, now());
  };
}

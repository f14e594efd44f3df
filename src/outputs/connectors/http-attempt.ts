// HTTP attempt: one request of a connector through the egress guard, and its outcome.
import type { HttpCall } from '../egress/http-exchange.ts';
import type { ConnectorServices } from './connector-services.ts';
import { outcomeOf } from './http-answer.ts';
import { failedAttempt } from './send-failure.ts';
import type { SendOutcome } from './target.ts';

export interface HttpAttempt extends Pick<ConnectorServices, 'egress' | 'now'> {
  readonly signal: AbortSignal;
  /** Whether a rejection with this body is temporary, although its status is 4xx. */
  readonly isTemporary?: (text: string) => boolean;
}

export async function attemptHttp(
  { egress, now, signal, isTemporary }: HttpAttempt,
  request: HttpCall,
): Promise<SendOutcome> {
  try {
    const answer = await egress.request(request, signal);
    const outcome = outcomeOf(answer, now);
    if (outcome.ok || isTemporary?.(answer.text) !== true) return outcome;
    return { ...outcome, retry: true };
  } catch (error) {
    return failedAttempt(signal, error);
  }
}

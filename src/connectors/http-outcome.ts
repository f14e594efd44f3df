// One try over HTTP for connectors whose request is made by the platform: sent through the guard, judged by its answer.
import type { EgressGuard } from '../egress/guard.ts';
import type { EpochMs } from '../model/instant.ts';
import type { SendOutcome } from './target.ts';
import { call, type HttpCall, outcomeOf } from './http-answer.ts';
import { failedAttempt } from './send-failure.ts';

/** `isPassing` names refusals, by their text, that are worth another try although their status is 4xx. */
export async function attemptHttp(
  egress: EgressGuard,
  request: HttpCall,
  signal: AbortSignal,
  now: () => EpochMs,
  isPassing: (text: string) => boolean = () => false,
): Promise<SendOutcome> {
  try {
    const answer = await call(request, signal, egress.dispatcher());
    const outcome = outcomeOf(answer, now);
    return outcome.ok || !isPassing(answer.text) ? outcome : { ...outcome, retry: true };
  } catch (error) {
    return failedAttempt(signal, error);
  }
}

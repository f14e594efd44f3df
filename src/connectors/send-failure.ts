// What becomes of a delivery that failed: another try, or none because the target refused it for good (contract 35).
import { EgressRefused } from '../egress/egress-refused.ts';
import { Problem } from '../model/problem.ts';
import type { SendOutcome } from './target.ts';

const reasonLengthMax = 500;

/** A failure that another try would repeat: the target refused this message, or refused us. */
export class PermanentRefusal extends Error {}

/** What failed, in words, with what caused it: a failed connection to several addresses names each of them. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return limited(String(error));
  const causes =
    error instanceof AggregateError
      ? error.errors
      : error.cause instanceof Error
        ? [error.cause]
        : [];
  const text = error.message || (causes.length === 0 ? error.name : '');
  const why = [...new Set(causes.map(reasonOf))].join('; ');
  return limited([text, why].filter((part) => part !== '').join(': '));
}

function limited(text: string): string {
  return text.length > reasonLengthMax ? `${text.slice(0, reasonLengthMax)}...` : text;
}

/** Our own refusals, also as the cause of what a client made of them; the guard's are a Problem when it saw the host alone. */
function isRefusal(error: unknown): boolean {
  if (error instanceof AggregateError)
    return error.errors.length > 0 && error.errors.every(isRefusal);
  if (
    error instanceof PermanentRefusal ||
    error instanceof EgressRefused ||
    error instanceof Problem
  )
    return true;
  return error instanceof Error && error.cause !== undefined && isRefusal(error.cause);
}

/**
 * Runs one try. `work` answers what the target said. A failure is tried again unless it is a `PermanentRefusal` or `isPermanent`
 * says so; a try whose time was over is always made again.
 */
export async function attempt(
  signal: AbortSignal,
  work: () => Promise<string>,
  isPermanent: (error: unknown) => boolean = () => false,
): Promise<SendOutcome> {
  try {
    return { ok: true, answer: await work() };
  } catch (error) {
    return failedAttempt(signal, error, isPermanent);
  }
}

/** The outcome of an attempt that threw. */
export function failedAttempt(
  signal: AbortSignal,
  error: unknown,
  isPermanent: (error: unknown) => boolean = () => false,
): SendOutcome {
  if (signal.aborted)
    return { ok: false, retry: true, reason: `no answer in time: ${reasonOf(signal.reason)}` };
  const permanent = isRefusal(error) || isPermanent(error);
  return { ok: false, retry: !permanent, reason: reasonOf(error) };
}

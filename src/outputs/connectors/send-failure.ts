// Send failure: decides whether a failed delivery is retried (contract 35).
import { EgressRefused } from '../egress/host-check.ts';
import { Problem } from '../../model/problem.ts';
import type { SendOutcome } from './target.ts';

const reasonLengthMax = 500;

/** A failure that a retry would repeat: the target rejected the message or the sender. */
export class PermanentRefusal extends Error {}

/**
 * Describes an error and its causes: a failed connection to several addresses has a cause per
 * address.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return limited(String(error));
  const causes = causesOf(error);
  const own = error.message || (causes.length === 0 && error.name);
  const reasons = new Set(causes.map(reasonOf));
  return limited([own, [...reasons].join('; ')].filter(Boolean).join(': '));
}

function causesOf(error: Error): readonly unknown[] {
  if (error instanceof AggregateError) return error.errors;
  return [error.cause].filter((cause) => cause instanceof Error);
}

function limited(reason: string): string {
  if (reason.length <= reasonLengthMax) return reason;
  return `${reason.slice(0, reasonLengthMax)}...`;
}

/**
 * Whether the platform itself rejected the delivery, also as the cause of an error of a client
 * library.
 */
function isRefusal(error: unknown): boolean {
  if (error instanceof AggregateError)
    return error.errors.length > 0 && error.errors.every(isRefusal);
  // The egress guard throws a Problem for a literal address.
  if (error instanceof PermanentRefusal || error instanceof EgressRefused) return true;
  if (error instanceof Problem) return true;
  return error instanceof Error && error.cause !== undefined && isRefusal(error.cause);
}

/**
 * Runs one attempt. `work` resolves with the answer of the target. A failure is retried unless it
 * is a `PermanentRefusal` or `isPermanent` is true for it. An attempt that ran out of time is
 * always retried.
 */
export async function attempt(
  signal: AbortSignal,
  work: () => Promise<string>,
  isPermanent?: (error: unknown) => boolean,
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
  isPermanent?: (error: unknown) => boolean,
): SendOutcome {
  if (signal.aborted)
    return { ok: false, retry: true, reason: `timed out: ${reasonOf(signal.reason)}` };
  const isFinal = isRefusal(error) || isPermanent?.(error) === true;
  return { ok: false, retry: !isFinal, reason: reasonOf(error) };
}

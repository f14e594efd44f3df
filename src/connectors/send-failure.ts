// What becomes of a delivery that failed: another try, or none because the target refused it for good (contract 35).
import type { SendOutcome } from './connector.ts';

const reasonLengthMax = 500;

/** A failure that another try would repeat: the target refused this message, or refused us. */
export class PermanentRefusal extends Error {}

/** What failed, in words: a failed connection to several addresses names each of them. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return limited([...new Set(error.errors.map(reasonOf))].join('; '));
  }
  const text = error instanceof Error ? error.message || error.name : String(error);
  return limited(text);
}

function limited(text: string): string {
  return text.length > reasonLengthMax ? `${text.slice(0, reasonLengthMax)}...` : text;
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
    if (signal.aborted) return { ok: false, retry: true, reason: `no answer in time: ${reasonOf(signal.reason)}` };
    const permanent = error instanceof PermanentRefusal || isPermanent(error);
    return { ok: false, retry: !permanent, reason: reasonOf(error) };
  }
}

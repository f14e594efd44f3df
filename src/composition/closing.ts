// Closing: ends all parts in reverse order, each with its own time limit, so that one that fails or hangs keeps no other from it.
import { isDiskFull } from '../model/disk-full.ts';

const closeWithinMs = 3_000;

export interface Closers {
  /** Adds a part that was opened; `what` names it in the log. */
  readonly push: (what: string, close: () => unknown) => void;
  /**
   * Closes all parts, the newest first. Rejects with an AggregateError of what failed or took longer than its limit. A full disk is
   * no failure, because everything that was acknowledged is durable.
   */
  readonly closeAll: () => Promise<void>;
}

/** `failed` is told each failure at once. */
export function createClosers(
  failed: (what: string, error: unknown) => void,
  limitMs = closeWithinMs,
): Closers {
  const opened: { readonly what: string; readonly close: () => unknown }[] = [];
  return {
    push: (what, close) => void opened.push({ what, close }),
    async closeAll() {
      const errors: unknown[] = [];
      for (const { what, close } of opened.splice(0).reverse()) {
        try {
          await withinLimit(what, close, limitMs);
        } catch (error) {
          failed(`closing ${what}`, error);
          if (!isDiskFull(error)) errors.push(error);
        }
      }
      if (errors.length > 0)
        throw new AggregateError(errors, `${errors.length} parts were not closed cleanly`);
    },
  };
}

/** Takes all steps in order, also those behind one that fails; then throws what failed. */
export async function closeInOrder(...steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('; '));
  if (errors.length === 1) throw errors[0];
}

async function withinLimit(what: string, close: () => unknown, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`closing ${what} took longer than ${limitMs} ms`)),
      limitMs,
    );
  });
  try {
    await Promise.race([(async () => close())(), late]);
  } finally {
    clearTimeout(timer);
  }
}

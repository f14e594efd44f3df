// Closers: end all parts in reverse order within one time. A part that fails or hangs stops no other.

/** The time for a whole stop, which begins when this is made. */
export class StopTime {
  readonly #endsAt: number;

  constructor(ms: number) {
    this.#endsAt = performance.now() + ms;
  }

  /**
   * What one part may take: half of what is left, so that one that hangs leaves as much for all that
   * follow.
   */
  get partMs(): number {
    return Math.max(0, (this.#endsAt - performance.now()) / 2);
  }
}

export class Closers {
  readonly #failed: (what: string, error: unknown) => void;
  readonly #isHarmless: (error: unknown) => boolean;
  readonly #opened: { readonly what: string; readonly close: () => unknown }[] = [];

  constructor({
    failed,
    isHarmless,
  }: {
    /** Called for each failure as soon as it happens. */
    readonly failed: (what: string, error: unknown) => void;
    /** Returns true for errors that are reported but do not make `closeAll` reject. */
    readonly isHarmless: (error: unknown) => boolean;
  }) {
    this.#failed = failed;
    this.#isHarmless = isHarmless;
  }

  /** Adds a part that was opened. `what` is its name in failures. */
  push(what: string, close: () => unknown): void {
    this.#opened.push({ what, close });
  }

  /**
   * Closes all parts, the newest first. Rejects with an AggregateError of the failures, of which a
   * part that exceeds its time is one.
   */
  async closeAll(time: StopTime): Promise<void> {
    const errors: unknown[] = [];
    for (const { what, close } of this.#opened.splice(0).reverse()) {
      try {
        await withinLimit(what, close, time.partMs);
      } catch (error) {
        this.#failed(`closing ${what}`, error);
        if (!this.#isHarmless(error)) errors.push(error);
      }
    }
    if (errors.length > 0)
      throw new AggregateError(errors, `${errors.length} parts were not closed cleanly`);
  }
}

/** Calls all functions in order, also those after one that fails. Then throws the failures. */
export async function closeInOrder(...closes: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closes) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('; '));
  if (errors.length === 1) throw errors[0];
}

async function withinLimit(what: string, close: () => unknown, limitMs: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      late.reject(
        new Error(
          `closing ${what} took longer than ${Math.round(limitMs)} ms, half of what was left of STOP_SECONDS`,
        ),
      ),
    limitMs,
  );
  try {
    await Promise.race([Promise.try(close), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

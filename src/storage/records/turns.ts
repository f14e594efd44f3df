// Turns on a connection: one writer at a time, and slow reads of tenants one after the other.

interface TenantTurns {
  /** Runs the work when it is the turn of the tenant; settles as the work does. */
  run<T>(tenant: string, work: () => Promise<T>): Promise<T>;
}

/** `atOnceMax` of them run at the same time. */
export function createTenantTurns(atOnceMax = 1): TenantTurns {
  /** In the order of their turns: a tenant that had one goes to the end. */
  const lines = new Map<string, Set<() => void>>();
  let running = 0;

  const wait = (tenant: string): Promise<void> =>
    new Promise((resolve) => {
      const line = lines.get(tenant);
      if (line === undefined) lines.set(tenant, new Set([resolve]));
      else line.add(resolve);
    });

  const passOn = (): void => {
    const [first] = lines;
    if (first === undefined) {
      running -= 1;
      return;
    }
    const [tenant, line] = first;
    const [start] = line;
    lines.delete(tenant);
    if (start === undefined) return passOn();
    line.delete(start);
    if (line.size > 0) lines.set(tenant, line);
    start();
  };

  return {
    async run(tenant, work) {
      // Who waited runs in the place of the one that ended.
      if (running >= atOnceMax) await wait(tenant);
      else running += 1;
      try {
        return await work();
      } finally {
        passOn();
      }
    },
  };
}

// Write lock: one writer at a time, first come, first served; each release resumes exactly one waiting writer.
export class WriteLock {
  readonly #waiting = new Set<() => void>();
  #isHeld = false;
  readonly #release = (): void => {
    const [next] = this.#waiting;
    if (next === undefined) this.#isHeld = false;
    else {
      this.#waiting.delete(next);
      next();
    }
  };

  /** Resolves with the function that releases the lock. */
  async take(): Promise<() => void> {
    if (this.#isHeld) await new Promise<void>((resolve) => void this.#waiting.add(resolve));
    this.#isHeld = true;
    return this.#release;
  }
}

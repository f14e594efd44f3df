// Fair turns: limited work alternates between waiting keys, so that one of them cannot delay the others.

interface TurnLimits {
  /** Work that runs at the same time. */
  readonly runningMax: number;
  /** Work of one key that waits, and keys with work that waits. */
  readonly waitingPerKeyMax: number;
  readonly keysMax: number;
}

export class FairTurns {
  readonly #limits: TurnLimits;
  readonly #refusal: () => Error;
  /** In the order of their turns: a key whose work started goes to the end. */
  readonly #lines = new Map<string, (() => void)[]>();
  #running = 0;

  /** `refusal`: what is thrown when too much work waits. */
  constructor(limits: TurnLimits, refusal: () => Error) {
    this.#limits = limits;
    this.#refusal = refusal;
  }

  /** Runs the work when it is the turn of the key. Throws the refusal when too much waits. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.runningMax) this.#running += 1;
    else await this.#waitFor(key);
    try {
      return await work();
    } finally {
      this.#passOn();
    }
  }

  #waitFor(key: string): Promise<void> {
    const line = this.#lines.get(key) ?? [];
    const { waitingPerKeyMax, keysMax } = this.#limits;
    if (line.length >= waitingPerKeyMax || (line.length === 0 && this.#lines.size >= keysMax))
      throw this.#refusal();
    return new Promise((resolve) => {
      line.push(resolve);
      this.#lines.set(key, line);
    });
  }

  #passOn(): void {
    const [[key, line] = []] = this.#lines;
    const start = line?.shift();
    if (key === undefined || line === undefined || start === undefined) {
      this.#running -= 1;
      return;
    }
    this.#lines.delete(key);
    if (line.length > 0) this.#lines.set(key, line);
    start();
  }
}

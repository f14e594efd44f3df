// Commit sync: makes commits durable without blocking the event loop; one fdatasync covers all earlier commits.
import { closeSync, fdatasync, fstatSync } from 'node:fs';

export class CommitSync {
  readonly #descriptor: number;
  readonly #stopped: (error: Error) => void;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #stoppedBy: Error | undefined;

  /** `descriptor` is the open write-ahead log. `stopped` is told once. */
  constructor(descriptor: number, stopped: (error: Error) => void) {
    this.#descriptor = descriptor;
    this.#stopped = stopped;
  }

  /** Stops permanently, because later commits might be lost. */
  stop(error: Error): void {
    if (this.#stoppedBy !== undefined) return;
    this.#stoppedBy = error;
    this.#stopped(error);
  }

  async #sync(): Promise<void> {
    // After a failed sync the kernel can report lost pages as written, so later syncs cannot be
    // trusted.
    if (this.#stoppedBy !== undefined) throw this.#stoppedBy;
    try {
      await new Promise<void>((resolve, reject) => {
        fdatasync(this.#descriptor, (error) => (error === null ? resolve() : reject(error)));
      });
    } catch (error) {
      this.stop(error as Error);
      throw error;
    } finally {
      this.#running = undefined;
    }
  }

  /**
   * Resolves when everything that is committed now is on disk. Rejects when the disk fails; the
   * records are stopped then.
   */
  committed(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return (this.#running = this.#sync());
    // The sync in progress may have passed this commit by; all that come until it ends share the
    // next.
    this.#next = this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return (this.#running = this.#sync());
      });
    return this.#next;
  }

  /** Undefined while commits become durable. */
  get stoppedBy(): Error | undefined {
    return this.#stoppedBy;
  }

  /** Length of the write-ahead log. */
  get bytes(): number {
    return fstatSync(this.#descriptor).size;
  }

  async close(): Promise<void> {
    await (this.#next ?? this.#running)?.catch(() => undefined);
    closeSync(this.#descriptor);
  }
}

// MQTT output: packets of one turn of the event loop leave a connection in one write.
import { mqttLimits } from './mqtt-limits.ts';
import type { MqttTransport } from './mqtt-listeners.ts';

/** One for each connection. */
export class MqttOutput {
  readonly #conn: MqttTransport;
  readonly #stalled: () => void;
  #unsent: Buffer[] | undefined;
  #waiting: (() => void)[] | undefined;

  /** `stalled` is called when the client takes nothing more for now. */
  constructor(conn: MqttTransport, stalled: () => void) {
    this.#conn = conn;
    this.#stalled = stalled;
  }

  /** Whether the client should take something before more is read from it. */
  get isFull(): boolean {
    return this.#conn.writableNeedDrain;
  }

  /** Whether no further message may wait for this client. */
  get isOverfull(): boolean {
    const unsent = this.#unsent?.reduce((sum, { length }) => sum + length, 0) ?? 0;
    return this.#conn.writableLength + unsent > mqttLimits.unsentBytesMax;
  }

  write(bytes: Buffer): void {
    if (this.#unsent !== undefined) {
      this.#unsent.push(bytes);
      return;
    }
    this.#unsent = [bytes];
    // Runs after the promises of this turn, which settle more packets.
    process.nextTick(flush, this);
  }

  flush(): void {
    const unsent = this.#unsent;
    this.#unsent = undefined;
    if (unsent === undefined || this.#conn.destroyed) return;
    const bytes = unsent.length === 1 ? unsent[0]! : Buffer.concat(unsent);
    if (!this.#conn.write(bytes)) this.#stalled();
  }

  /** Resolves when the transport has taken everything, or is closed. */
  async written(): Promise<void> {
    this.flush();
    if (!this.#conn.writableNeedDrain || this.#conn.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  /** Call when the transport has drained or closed. */
  drained(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const resolve of waiting ?? []) resolve();
  }
}

function flush(output: MqttOutput): void {
  output.flush();
}

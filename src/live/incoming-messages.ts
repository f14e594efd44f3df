// Incoming messages: handled one after the other, no faster than the reader takes the answers.
import { liveLimits } from './live-limits.ts';
import { type LiveRefusal, refusal } from './live-refusal.ts';
import type { Outbox } from './outbox.ts';
import type { SessionMemory } from './session-memory.ts';

export interface IncomingParts {
  readonly outbox: Outbox;
  /** Counts unhandled messages. */
  readonly memory: SessionMemory;
  /** Every message is handled. */
  readonly idle: () => void;
}

export type IncomingMessage = { readonly text: string } | { readonly refused: LiveRefusal };

export interface Incoming {
  readonly size: number;
  /** Of unhandled messages. */
  readonly bytes: number;
  add(message: IncomingMessage): void;
  clear(): void;
}

/**
 * Handles one message at a time, and none while the reader has not taken the answers. This limits
 * what is queued.
 */
export function createIncoming(
  { outbox, memory, idle }: IncomingParts,
  refuse: (thrown: unknown, replyTo: undefined) => void,
  handleOne: (message: IncomingMessage) => Promise<void>,
): Incoming {
  let waiting: IncomingMessage[] = [];
  let isWorking = false;
  let unhandledInBatch = 0;
  let bytes = 0;

  function count(by: number): void {
    bytes += by;
    memory.change(by);
  }

  async function handleBatch(batch: readonly IncomingMessage[]): Promise<void> {
    for (const [at, message] of batch.entries()) {
      if (outbox.closed) break;
      unhandledInBatch = batch.length - at;
      await handleOne(message);
      count(-sizeOf(message));
      while (!outbox.writable) await outbox.whenWritable();
    }
    unhandledInBatch = 0;
  }

  async function work(): Promise<void> {
    isWorking = true;
    while (waiting.length > 0 && !outbox.closed) {
      const batch = waiting;
      waiting = [];
      await handleBatch(batch);
    }
    isWorking = false;
    idle();
  }

  return {
    get size() {
      return waiting.length + unhandledInBatch;
    },
    get bytes() {
      return bytes;
    },
    add(message) {
      if (outbox.closed) return;
      if (waiting.length >= liveLimits.waitingMessagesMax)
        return refuse(refusal('TOO_MANY_MESSAGES'), undefined);
      waiting.push(message);
      count(sizeOf(message));
      if (!isWorking) void work();
    },
    clear() {
      waiting = [];
    },
  };
}

function sizeOf(message: IncomingMessage): number {
  return 'text' in message ? message.text.length : 0;
}

// Event outbox: live events on their way to one other node, in order, in batches, and up to a limit.
import type { LiveKind } from '../model/live-kind.ts';

export const outboxLimits = {
  /** What waits; beyond, events are counted and not sent. */
  eventsMax: 5_000,
  charactersMax: 4 * 1024 * 1024,
  /** Of one batch. */
  batchMax: 500,
  batchCharactersMax: 512 * 1024,
} as const;

type SentEvent = readonly [workspaceId: string, kind: LiveKind, content: string];
type OmittedEvents = readonly [workspaceId: string, kind: LiveKind, count: number];

/** Events as they are sent: the content is JSON. */
export interface SentEvents {
  readonly run: string;
  /** One more with each batch of the run. */
  readonly number: number;
  readonly events: readonly SentEvent[];
  readonly omitted: readonly OmittedEvents[];
}

export interface EventOutbox {
  add(workspaceId: string, kind: LiveKind, content: string): void;
  /** Counts an event that is not sent; the receiver reports the count to its sessions. */
  omit(workspaceId: string, kind: LiveKind): void;
  /** Sends counts that wait, when no event takes them along. */
  flush(): void;
  close(): void;
}

export interface EventOutboxParts {
  readonly run: string;
  /** Rejects when the outcome is unknown. */
  readonly send: (sent: SentEvents, bytes: number) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** One batch at a time is on its way. */
export function createEventOutbox({ run, send, failed }: EventOutboxParts): EventOutbox {
  const queue = createEventQueue();
  const state = { number: 0, isSending: false, isPlanned: false, isClosed: false };

  async function sendAll(): Promise<void> {
    state.isPlanned = false;
    state.isSending = true;
    while (!state.isClosed && !queue.isEmpty()) {
      const { events, omitted, characters } = queue.take();
      state.number += 1;
      try {
        await send({ run, number: state.number, events, omitted }, characters);
      } catch (error) {
        failed(error);
        for (const [workspaceId, kind] of events) queue.omit(workspaceId, kind, 1);
        for (const [workspaceId, kind, count] of omitted) queue.omit(workspaceId, kind, count);
        break;
      }
    }
    state.isSending = false;
  }

  /** Events of one turn of the event loop leave together. */
  function plan(): void {
    if (state.isPlanned || state.isSending) return;
    state.isPlanned = true;
    setImmediate(() => void sendAll());
  }

  return {
    add(workspaceId, kind, content) {
      queue.add(workspaceId, kind, content);
      plan();
    },
    omit: (workspaceId, kind) => queue.omit(workspaceId, kind, 1),
    flush() {
      if (!queue.isEmpty()) plan();
    },
    close() {
      state.isClosed = true;
    },
  };
}

interface Batch extends Pick<SentEvents, 'events' | 'omitted'> {
  readonly characters: number;
}

/** What waits, and the count of what was too much. */
function createEventQueue() {
  let waiting: SentEvent[] = [];
  let characters = 0;
  let omitted = new Map<string, OmittedEvents>();

  function omit(workspaceId: string, kind: LiveKind, count: number): void {
    const key = `${kind} ${workspaceId}`;
    omitted.set(key, [workspaceId, kind, (omitted.get(key)?.[2] ?? 0) + count]);
  }

  return {
    omit,
    isEmpty: () => waiting.length === 0 && omitted.size === 0,
    add(workspaceId: string, kind: LiveKind, content: string): void {
      const { eventsMax, charactersMax } = outboxLimits;
      const isFull = waiting.length >= eventsMax || characters + content.length > charactersMax;
      if (isFull) return omit(workspaceId, kind, 1);
      waiting.push([workspaceId, kind, content]);
      characters += content.length;
    },
    take(): Batch {
      const events: SentEvent[] = [];
      let size = 0;
      for (const event of waiting) {
        if (events.length >= outboxLimits.batchMax || size > outboxLimits.batchCharactersMax) break;
        events.push(event);
        size += event[2].length;
      }
      waiting = waiting.slice(events.length);
      characters -= size;
      const counts = [...omitted.values()];
      omitted = new Map();
      return { events, omitted: counts, characters: size };
    },
  };
}

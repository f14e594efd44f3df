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

/** Events as they are sent: the content is JSON. */
export interface SentEvents {
  readonly run: string;
  /** One more with each batch of the run. */
  readonly number: number;
  readonly events: readonly (readonly [workspaceId: string, kind: LiveKind, content: string])[];
  readonly omitted: readonly (readonly [workspaceId: string, kind: LiveKind, count: number])[];
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
  /** Rejects when the node may not have got it. */
  readonly send: (sent: SentEvents, bytes: number) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** One batch at a time is on its way. */
export function createEventOutbox({ run, send, failed }: EventOutboxParts): EventOutbox {
  let waiting: SentEvents['events'][number][] = [];
  let characters = 0;
  let omitted = new Map<string, SentEvents['omitted'][number]>();
  let number = 0;
  let isSending = false;
  let isPlanned = false;
  let isClosed = false;

  function omit(workspaceId: string, kind: LiveKind, count = 1): void {
    const key = `${kind} ${workspaceId}`;
    omitted.set(key, [workspaceId, kind, (omitted.get(key)?.[2] ?? 0) + count]);
  }

  function take(): SentEvents {
    const events: SentEvents['events'][number][] = [];
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
    return { run, number: ++number, events, omitted: counts };
  }

  async function sendAll(): Promise<void> {
    isPlanned = false;
    if (isSending) return;
    isSending = true;
    while (!isClosed && (waiting.length > 0 || omitted.size > 0)) {
      const sent = take();
      try {
        const bytes = sent.events.reduce((sum, [, , content]) => sum + content.length, 0);
        await send(sent, bytes);
      } catch (error) {
        failed(error);
        for (const [workspaceId, kind] of sent.events) omit(workspaceId, kind);
        for (const [workspaceId, kind, count] of sent.omitted) omit(workspaceId, kind, count);
        break;
      }
    }
    isSending = false;
  }

  /** Events of one turn of the event loop leave together. */
  function plan(): void {
    if (isPlanned || isSending) return;
    isPlanned = true;
    setImmediate(() => void sendAll());
  }

  return {
    add(workspaceId, kind, content) {
      const { eventsMax, charactersMax } = outboxLimits;
      if (waiting.length >= eventsMax || characters + content.length > charactersMax)
        return omit(workspaceId, kind);
      waiting.push([workspaceId, kind, content]);
      characters += content.length;
      plan();
    },
    omit: (workspaceId, kind) => omit(workspaceId, kind),
    flush() {
      if (waiting.length > 0 || omitted.size > 0) plan();
    },
    close() {
      isClosed = true;
    },
  };
}

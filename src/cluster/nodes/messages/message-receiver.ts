// Message receiver: begins the messages of a batch in order, and answers each when its work is done.
import type { MessageHandler } from '../../../model/node-messages.ts';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import type { SetTimer } from '../../../structures/timers.ts';
import type { CallHandlers } from '../nodes.ts';
import {
  type BatchAnswer,
  type MessageOfBatch,
  messagesCall,
  type Outcome,
  outcomeOf,
  outcomesCall,
} from './message-form.ts';

const receiverLimits = {
  /** How long the answer of a batch waits for its slowest message. */
  promptMs: 50,
  /** How long a later question waits for the first further outcome. */
  laterMs: 5_000,
  /** Batches with outcomes that were not asked for yet; beyond, the oldest are dropped. */
  ticketsMax: 4_000,
} as const;

interface ReceiverParts {
  /** Whether this node serves the queue now. */
  readonly serves: (queue: string) => boolean;
  readonly handlerOf: (kind: string) => MessageHandler | undefined;
  readonly newTicket: () => string;
  readonly setTimer: SetTimer;
}

/** Outcomes of one batch, in the order of its messages. */
interface Batch {
  readonly outcomes: (Outcome | undefined)[];
  readonly work: readonly Promise<void>[];
  /** Messages whose outcome the sender does not know. */
  waiting: number[];
}

export function createMessageReceiver(parts: ReceiverParts): CallHandlers {
  const later = createBoundedMap<string, Batch>(receiverLimits.ticketsMax);

  async function takeBatch(request: unknown, from: string): Promise<unknown> {
    const batch = begin(request as readonly MessageOfBatch[], from, parts);
    await within(Promise.all(batch.work), receiverLimits.promptMs, parts.setTimer);
    return answerOf(batch, parts.newTicket());
  }

  async function tellLater(request: unknown): Promise<unknown> {
    const ticket = String(request);
    const batch = later.get(ticket);
    if (batch === undefined) throw new Error('The outcomes of the messages are no longer known');
    const unfinished = batch.waiting.filter((place) => batch.outcomes[place] === undefined);
    if (unfinished.length === batch.waiting.length)
      await within(
        Promise.race(unfinished.flatMap((place) => batch.work[place] ?? [])),
        receiverLimits.laterMs,
        parts.setTimer,
      );
    return answerOf(batch, ticket);
  }

  function answerOf(batch: Batch, ticket: string): unknown {
    const outcomes = batch.waiting.map((place) => batch.outcomes[place] ?? null);
    batch.waiting = batch.waiting.filter((_, i) => outcomes[i] === null);
    const isOver = batch.waiting.length === 0;
    if (isOver) later.delete(ticket);
    else later.set(ticket, batch);
    const answer: BatchAnswer = { outcomes, ...(!isOver && { ticket }) };
    return answer;
  }

  return new Map([
    [messagesCall, takeBatch],
    [outcomesCall, tellLater],
  ]);
}

function begin(messages: readonly MessageOfBatch[], from: string, parts: ReceiverParts): Batch {
  const outcomes: (Outcome | undefined)[] = messages.map(() => undefined);
  const work = messages.map(async (message, place) => {
    outcomes[place] = await outcomeOfMessage(message, from, parts);
  });
  return { outcomes, work, waiting: [...messages.keys()] };
}

async function outcomeOfMessage(
  [queue, kind, request]: MessageOfBatch,
  from: string,
  { serves, handlerOf }: ReceiverParts,
): Promise<Outcome> {
  if (!serves(queue)) return { moved: true };
  const handle = handlerOf(kind);
  if (handle === undefined) return { error: `Unknown kind of message: ${kind}` };
  try {
    return { answer: await handle(request, from) };
  } catch (error) {
    return outcomeOf(error);
  }
}

function within(work: Promise<unknown>, ms: number, setTimer: SetTimer): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = setTimer(resolve, ms);
  return Promise.race([work, promise]).finally(cancel);
}

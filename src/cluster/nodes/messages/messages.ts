// Message sender: messages to owners of leases and to nodes, in batches, in the order of each queue.
import type {
  MessageHandler,
  NodeAddress,
  NodeMessage,
  OwnedMessage,
} from '../../../model/node-messages.ts';
import {
  errorMessage,
  problem,
  Problem,
  problemOf,
  type Refusal,
  refusalOf,
} from '../../../model/problem.ts';
import type { SetTimer } from '../../../structures/timers.ts';
import { type CallHandlers, type CallOptions, type Nodes, NodeUnreachable } from '../nodes.ts';
import { ownerSearchLimits } from '../owner-search.ts';
import { createBoundedMap } from '../../../structures/caches.ts';

// Form of messages between nodes: batches, and an outcome for each message of one.

/** Calls between nodes: a batch of messages, and the outcomes of those that took longer. */
const messagesCall = 'messages';
const outcomesCall = 'outcomes';

/** The queue is the name of a lease, or that of a node. */
type MessageOfBatch = readonly [queue: string, kind: string, request: unknown];

/** `moved`: the node does not serve the queue, and did nothing that another node knows of. */
type Outcome =
  | { readonly answer: unknown }
  | { readonly moved: true }
  | Refusal
  | { readonly error: string };

interface BatchAnswer {
  /** Null for messages whose work continues. */
  readonly outcomes: readonly (Outcome | null)[];
  /** Of the outcomes that follow. */
  readonly ticket?: string;
}

const nodePrefix = 'node/';

export function queueOfNode(nodeId: string): string {
  return `${nodePrefix}${nodeId}`;
}

function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof Problem)) return { error: errorMessage(error) };
  return error.problem === 'deviceMoved' ? { moved: true } : refusalOf(error);
}

/** The error of an outcome that is neither an answer nor a move. */
function errorOf(outcome: Exclude<Outcome, { answer: unknown } | { moved: true }>): Error {
  if ('error' in outcome) return new Error(`Another node has failed: ${outcome.error}`);
  return problemOf(outcome);
}

interface SenderParts {
  readonly call: Nodes['call'];
  readonly isOwn: (lease: string) => boolean;
  /** Another node that holds the lease, as far as this one knows. */
  readonly owner: (lease: string) => NodeAddress | undefined;
  /** See `OwnerSearch`. */
  readonly refresh: () => Promise<void>;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
}

interface State {
  readonly parts: SenderParts;
  readonly queues: Map<string, Queue>;
  /** Batches without an answer, by node. */
  readonly underWay: Map<string, number>;
  size: number;
  bytes: number;
  ownerless: number;
  isPlanned: boolean;
  stopPolling: (() => void) | undefined;
  isClosed: boolean;
}

export class MessageSender {
  readonly #state: State;

  constructor(parts: SenderParts) {
    this.#state = {
      parts,
      queues: new Map(),
      underWay: new Map(),
      size: 0,
      bytes: 0,
      ownerless: 0,
      isPlanned: false,
      stopPolling: undefined,
      isClosed: false,
    };
  }

  /** The answer of the node. Messages begin in order. Throws NodeUnreachable. */
  readonly toNode = (to: NodeAddress, message: NodeMessage): Promise<unknown> =>
    add(this.#state, queueOfNode(to.id), to, message);

  /** Ends what waits. */
  readonly close = (): void => {
    this.#state.isClosed = true;
    this.#state.stopPolling?.();
    for (const queue of this.#state.queues.values())
      for (const waiting of queue.waiting.splice(0)) waiting.reject(problem('nodeUnreachable'));
  };

  /**
   * The answer of the lease's owner. Messages of one lease begin in the order of the calls, also
   * while it moves. Throws the Problem of the owner, `intakeFull`, and `deviceWithoutOwner` after
   * a time without one.
   */
  toOwner(lease: string, message: OwnedMessage): Promise<unknown> {
    return add(this.#state, lease, undefined, message);
  }

  /** Whether messages of the lease wait, which later work must not pass. */
  hasWaiting(lease: string): boolean {
    return this.#state.queues.has(lease);
  }

  get size(): number {
    return this.#state.size;
  }
}

async function add(
  state: State,
  name: string,
  to: NodeAddress | undefined,
  message: Waiting['message'],
): Promise<unknown> {
  const { messagesMax, bytesMax, ownerlessMax } = senderLimits;
  if (state.isClosed) throw problem('nodeUnreachable');
  const queue = state.queues.get(name) ?? newQueue(name, to);
  if (queue.isOwnerless && state.ownerless >= ownerlessMax) throw problem('deviceWithoutOwner');
  if (state.size >= messagesMax || state.bytes + message.bytes > bytesMax)
    throw problem('intakeFull');
  state.queues.set(name, queue);
  state.size++;
  state.bytes += message.bytes;
  if (queue.isOwnerless) state.ownerless++;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const since = state.parts.now();
  queue.waiting.push({ message, since, request: message.request, resolve, reject });
  plan(state);
  try {
    return await promise;
  } finally {
    state.size--;
    state.bytes -= message.bytes;
  }
}

/** Messages of one turn of the event loop leave together. */
function plan(state: State): void {
  if (state.isPlanned || state.isClosed) return;
  state.isPlanned = true;
  setImmediate(() => {
    state.isPlanned = false;
    sendAll(state);
  });
}

function sendAll(state: State): void {
  const batches = new Map<string, { readonly to: NodeAddress; readonly taken: Taken[] }>();
  for (const queue of state.queues.values()) {
    if (queue.isSent || queue.isOwnerless || queue.waiting.length === 0) continue;
    if (queue.to === undefined && state.parts.isOwn(queue.name)) {
      rejectForeign(queue, undefined);
      doOwn(state, queue);
      continue;
    }
    const to = queue.to ?? state.parts.owner(queue.name);
    if (to === undefined) {
      missOwner(state, queue);
      continue;
    }
    rejectForeign(queue, to);
    leave(state, queue);
    if (queue.waiting.length === 0) continue;
    if ((state.underWay.get(to.id) ?? 0) >= senderLimits.batchesPerNodeMax) continue;
    const batch = batches.get(to.id) ?? { to, taken: [] };
    batches.set(to.id, batch);
    takeInto(batch.taken, queue);
  }
  for (const { to, taken } of batches.values()) {
    for (const queue of queuesOf(taken)) requeue(state.queues, queue);
    void send(state, to, taken);
  }
}

/** Whether the former owner has kept them is not known, and the present one cannot ask it. */
function rejectForeign(queue: Queue, owner: NodeAddress | undefined): void {
  for (const { reject } of takeForOtherOwners(queue, owner?.id)) reject(problem('nodeUnreachable'));
}

/** In the order in which the messages came, before any later work of this node. */
function doOwn(state: State, queue: Queue): void {
  for (const { message, resolve, reject } of queue.waiting.splice(0))
    Promise.try(message.own ?? notOwn).then(resolve, reject);
  leave(state, queue);
}

const notOwn = () => Promise.reject(problem('deviceMoved'));

function leave({ queues }: State, queue: Queue): void {
  // The end of a slow message finds another queue of the name when this one was empty meanwhile.
  if (queues.get(queue.name) !== queue) return;
  if (queue.waiting.length === 0 && !queue.isSent) queues.delete(queue.name);
}

/** The messages wait until there is an owner, for a limited time. */
function missOwner(state: State, queue: Queue): void {
  queue.isOwnerless = true;
  state.ownerless += queue.waiting.length;
  state.stopPolling ??= state.parts.setTimer(() => void poll(state), ownerSearchLimits.pollMs);
}

async function poll(state: State): Promise<void> {
  const { refresh, now } = state.parts;
  const refusal = await refresh().then(
    () => undefined,
    (error: unknown) => error,
  );
  state.stopPolling = undefined;
  state.ownerless = 0;
  const before = now() - ownerSearchLimits.ownerMsMax;
  for (const queue of state.queues.values()) {
    if (!queue.isOwnerless) continue;
    queue.isOwnerless = false;
    if (refusal !== undefined) for (const { reject } of queue.waiting.splice(0)) reject(refusal);
    const count = queue.waiting.findIndex(({ since }) => since > before);
    const late = queue.waiting.splice(0, count === -1 ? queue.waiting.length : count);
    for (const { reject } of late) reject(problem('deviceWithoutOwner'));
    leave(state, queue);
  }
  plan(state);
}

async function send(state: State, to: NodeAddress, taken: readonly Taken[]): Promise<void> {
  const { underWay, parts } = state;
  underWay.set(to.id, (underWay.get(to.id) ?? 0) + 1);
  const messages = taken.map(
    ({ queue, waiting }): MessageOfBatch => [queue.name, waiting.message.kind, waiting.request],
  );
  const answer = await parts
    .call(to, messagesCall, messages, optionsFor(taken))
    .catch((error: unknown) => error as Error);
  underWay.set(to.id, (underWay.get(to.id) ?? 1) - 1);
  for (const queue of queuesOf(taken)) queue.isSent = false;
  settleBatch(state, taken, answer, to);
}

function optionsFor(taken: readonly Taken[]): CallOptions {
  return { isOfClient: taken.some(({ waiting }) => waiting.message.isOfClient === true) };
}

/** Queues continue when some of their messages take longer, because these have begun. */
function settleBatch(
  state: State,
  taken: readonly Taken[],
  answer: unknown,
  to: NodeAddress,
): void {
  if (answer instanceof Error) failAll(state, taken, answer, to);
  else settleAll(state, taken, answer as BatchAnswer, to);
  for (const queue of queuesOf(taken)) leave(state, queue);
  plan(state);
}

function settleAll(
  state: State,
  taken: readonly Taken[],
  { outcomes, ticket }: BatchAnswer,
  to: NodeAddress,
): void {
  const moved: Taken[] = [];
  const left: Taken[] = [];
  for (const [place, one] of taken.entries()) {
    const outcome = outcomes[place];
    if (outcome === null && ticket !== undefined) left.push(one);
    else if (outcome && 'moved' in outcome) moved.push(one);
    else settle(one.waiting, outcome ?? { error: 'it has not answered the message' });
  }
  putBack(state, moved);
  if (ticket === undefined) return;
  void state.parts
    .call(to, outcomesCall, ticket, optionsFor(left))
    .catch((error: unknown) => error as Error)
    .then((later) => settleBatch(state, left, later, to));
}

function settle({ resolve, reject }: Waiting, outcome: Exclude<Outcome, { moved: true }>): void {
  if ('answer' in outcome) resolve(outcome.answer);
  else reject(errorOf(outcome));
}

/** In front of those that came later. They wait until the owners were read again. */
function putBack(state: State, taken: readonly Taken[]): void {
  const back = new Set<Queue>();
  for (const { queue, waiting } of taken.toReversed()) {
    if (queue.to !== undefined) {
      waiting.reject(new NodeUnreachable(queue.to, false, 'another node uses its address'));
      continue;
    }
    // It may have become empty meanwhile.
    const present = state.queues.get(queue.name) ?? queue;
    state.queues.set(queue.name, present);
    present.waiting.unshift(waiting);
    present.hasBound ||= waiting.receiver !== undefined;
    back.add(present);
  }
  for (const queue of back) if (!queue.isOwnerless) missOwner(state, queue);
}

function failAll(state: State, taken: readonly Taken[], error: Error, to: NodeAddress): void {
  const back: Taken[] = [];
  for (const one of taken) {
    const { queue, waiting } = one;
    const { again, isReceiverBound = false } = waiting.message;
    if (!(error instanceof NodeUnreachable) || queue.to !== undefined) waiting.reject(error);
    else if (!error.wasSent) back.push(one);
    else if (again === undefined) waiting.reject(problem('nodeUnreachable'));
    else {
      waiting.request = again;
      if (isReceiverBound) waiting.receiver = to.id;
      back.push(one);
    }
  }
  putBack(state, back);
  if (error instanceof NodeUnreachable && error.isSilent) rejectOfClients(state, to);
}

/** Clients whose messages wait behind those of a silent node can send again as well. */
function rejectOfClients({ queues, parts }: State, to: NodeAddress): void {
  for (const queue of queues.values()) {
    if ((queue.to ?? parts.owner(queue.name))?.id !== to.id) continue;
    const isOfClient = ({ message }: Waiting) => message.isOfClient === true;
    const rejected = queue.waiting.filter(isOfClient);
    queue.waiting = queue.waiting.filter((waiting) => !isOfClient(waiting));
    for (const { reject } of rejected) reject(problem('nodeUnreachable'));
  }
}

// Message queues: the messages of each lease or node in order, and the part of them that a batch takes.

export const senderLimits = {
  /** Messages without an answer, and their bytes; a further one gets 503. */
  messagesMax: 4_096,
  bytesMax: 128 * 1024 * 1024,
  /** Messages for leases without a holder; a further one gets 503, and the others keep their room. */
  ownerlessMax: 1_024,
  batchMessagesMax: 512,
  batchBytesMax: 1024 * 1024,
  /** Messages of one queue in a batch. */
  queueMessagesMax: 128,
  /** Batches without an answer, of one node. */
  batchesPerNodeMax: 2,
} as const;

interface Waiting {
  readonly message: NodeMessage & Partial<OwnedMessage>;
  readonly since: number;
  /** What is sent, which changes when a node may have received it. */
  request: unknown;
  /** Id of the node that may have received it, when no other one may get it. */
  receiver?: string;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue {
  readonly name: string;
  /** The receiver of all messages; undefined when it is the owner of a lease. */
  readonly to: NodeAddress | undefined;
  waiting: Waiting[];
  /** Whether messages of it are in a batch; the next ones follow after the answer. */
  isSent: boolean;
  /** Whether its owner was not found, until the owners were read again. */
  isOwnerless: boolean;
  /** Whether some may have a receiver. */
  hasBound: boolean;
}

function newQueue(name: string, to: NodeAddress | undefined): Queue {
  return { name, to, waiting: [], isSent: false, isOwnerless: false, hasBound: false };
}

interface Taken {
  readonly queue: Queue;
  readonly waiting: Waiting;
}

/** Queues of one batch come after the others in the next one. */
function requeue(queues: Map<string, Queue>, queue: Queue): void {
  queues.delete(queue.name);
  queues.set(queue.name, queue);
}

function queuesOf(taken: readonly Taken[]): ReadonlySet<Queue> {
  return new Set(taken.map(({ queue }) => queue));
}

function takeInto(taken: Taken[], queue: Queue): void {
  const { batchMessagesMax, batchBytesMax, queueMessagesMax } = senderLimits;
  let bytes = 0;
  for (const { waiting } of taken) bytes += waiting.message.bytes;
  let count = 0;
  for (const waiting of queue.waiting) {
    bytes += waiting.message.bytes;
    const isFull = taken.length > 0 && bytes > batchBytesMax;
    if (isFull || taken.length >= batchMessagesMax || count >= queueMessagesMax) break;
    taken.push({ queue, waiting });
    count++;
  }
  if (count === 0) return;
  queue.waiting.splice(0, count);
  queue.isSent = true;
}

/** Removes those that only another node than the owner may get, and returns them. */
function takeForOtherOwners(queue: Queue, owner: string | undefined): readonly Waiting[] {
  if (!queue.hasBound) return [];
  const isForeign = ({ receiver = owner }: Waiting) => receiver !== owner;
  const foreign = queue.waiting.filter(isForeign);
  queue.waiting = queue.waiting.filter((waiting) => !isForeign(waiting));
  queue.hasBound = queue.waiting.some(({ receiver }) => receiver !== undefined);
  return foreign;
}

// Message receiver: begins the messages of a batch in order, and answers each when its work is done.

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

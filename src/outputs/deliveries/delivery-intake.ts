// Delivery intake: deliveries of data flows, whose drafts are journal entries until they have a record.
import type { DeliveryLog } from '../../storage/delivery-log/delivery-log.ts';
import { deliveryId } from '../../storage/delivery-log/record.ts';
import type { Deliverer } from './attempts/delivery-worker.ts';
import {
  recordOf,
  type WaitingDelivery,
  waitingDraft,
  waitingRecord,
} from './attempts/waiting-delivery.ts';
import type { Delivery, DeliveryDraft } from '../../model/delivery.ts';
import { type EpochMs, isWithin } from '../../model/instant.ts';
import { missing } from '../../structures/missing.ts';

export const intakeLimits = {
  /**
   * Deliveries that are in the memory and hold the journal; further ones, and those that have
   * waited for so long, get a record in the log.
   */
  heldMax: 4_000,
  heldBytesMax: 64 * 1024 * 1024,
  heldMsMax: 10_000,
} as const;

interface DeliveryIntakeParts {
  readonly log: DeliveryLog;
  readonly deliverer: Pick<Deliverer, 'refuse' | 'add'>;
  readonly now: () => EpochMs;
  /** The journal position that is followed next. */
  readonly from: number;
  /** Deliveries from `from` on that the log has; none belongs to `knownTo` or later positions. */
  readonly known: Set<string>;
  readonly knownTo: number;
}

interface Held {
  readonly since: EpochMs;
  readonly bytes: number;
}

interface State {
  /** In the order of the journal. */
  readonly held: Map<WaitingDelivery, Held>;
  heldBytes: number;
  followedTo: number;
  /** The last delivery that was added; of one sample there may be several. */
  lastSequence: number;
  readonly lastConnectors: Set<string>;
}

export class DeliveryIntake {
  readonly #parts: DeliveryIntakeParts;
  readonly #state: State;

  constructor(parts: DeliveryIntakeParts) {
    this.#parts = parts;
    this.#state = {
      held: new Map(),
      heldBytes: 0,
      followedTo: parts.from,
      lastSequence: -1,
      lastConnectors: new Set(),
    };
  }

  /** Adds deliveries in the order of the journal; repeated ones are skipped. */
  readonly add = async (drafts: readonly DeliveryDraft[]): Promise<void> => {
    for (const draft of drafts) addDraft(this.#parts, this.#state, draft);
    while (
      this.#state.held.size > intakeLimits.heldMax ||
      this.#state.heldBytes > intakeLimits.heldBytesMax
    )
      parkFirst(this.#parts, this.#state);
    if (this.#parts.log.isBehind) await this.#parts.log.write();
  };

  /** Call when everything before the journal position was added. */
  followed(position: number): void {
    this.#state.followedTo = Math.max(this.#state.followedTo, position);
    if (position >= this.#parts.knownTo) this.#parts.known.clear();
  }

  /** Everything before this journal position has a record, or nothing to deliver. */
  get heldTo(): number {
    const [first] = this.#state.held.keys();
    return first === undefined ? this.#state.followedTo : Math.floor(first.sequence);
  }

  /** Call for a delivery that got a record, or is gone. */
  release(waiting: WaitingDelivery): void {
    release(this.#state, waiting);
  }

  /** A delivery that has no record yet. */
  held(id: string): Delivery | undefined {
    return [...this.#state.held.keys()].find((waiting) => waiting.id === id)?.draft;
  }

  /** Writes a record for those that have waited for long, or for all. */
  park(which: 'old' | 'all'): void {
    const now = this.#parts.now();
    for (let [first] = this.#state.held; first !== undefined; [first] = this.#state.held) {
      if (which === 'old' && isWithin(intakeLimits.heldMsMax, first[1].since, now)) return;
      parkFirst(this.#parts, this.#state);
    }
  }
}

function addDraft(parts: DeliveryIntakeParts, state: State, draft: DeliveryDraft): void {
  const { now, deliverer, known } = parts;
  if (isRepeated(state, draft)) return;
  const delivery = deliveryOfDraft(draft, now());
  if (known.size > 0 && known.delete(delivery.id)) return;
  const reason = deliverer.refuse(draft);
  if (reason !== undefined) {
    parts.log.append(recordOf({ ...delivery, state: 'DEAD', reason }));
    return;
  }
  const waiting = waitingDraft(delivery);
  const bytes = draft.bytes ?? 0;
  state.held.set(waiting, { since: delivery.created, bytes });
  state.heldBytes += bytes;
  deliverer.add([waiting]);
}

/** The follower gets entries again after a failure. */
function isRepeated(
  state: State,
  { sequence = missing('sequence'), connectorId }: DeliveryDraft,
): boolean {
  const { lastSequence, lastConnectors } = state;
  if (sequence < lastSequence) return true;
  if (sequence === lastSequence && lastConnectors.has(connectorId)) return true;
  if (sequence > lastSequence) lastConnectors.clear();
  lastConnectors.add(connectorId);
  state.lastSequence = sequence;
  return false;
}

function deliveryOfDraft(draft: DeliveryDraft, now: EpochMs): Delivery {
  const { connectorId, correlationId, sequence = missing('sequence') } = draft;
  return {
    id: deliveryId(sequence, connectorId, correlationId),
    sequence,
    connectorId,
    organizationId: draft.organizationId,
    workspaceId: draft.workspaceId,
    deviceId: draft.deviceId,
    correlationId,
    cause: draft.cause,
    context: draft.context,
    ruleHops: draft.ruleHops ?? 0,
    state: 'PENDING',
    tries: 0,
    revision: 0,
    nextAt: now,
    created: now,
    updated: now,
    isResent: false,
    payload: null,
    answer: null,
    reason: null,
  };
}

function parkFirst({ log }: DeliveryIntakeParts, state: State): void {
  const [waiting] = state.held.keys();
  if (waiting === undefined) return;
  release(state, waiting);
  const { draft } = waiting;
  if (draft === undefined || waiting.isGone) return;
  waiting.place = log.append(recordOf({ ...draft, revision: waiting.revision }));
  waiting.revision += 1;
  waiting.draft = undefined;
}

function release(state: State, waiting: WaitingDelivery): void {
  const known = state.held.get(waiting);
  if (known === undefined) return;
  state.held.delete(waiting);
  state.heldBytes -= known.bytes;
}

// Delivery recovery: the deliveries that the last process left waiting in the log.

interface RecoveredDeliveries {
  /** In the order of making. */
  readonly waiting: readonly WaitingDelivery[];
  /** Ids of the deliveries of the journal from the position on that the log has. */
  readonly known: Set<string>;
}

/** `from` is the journal position that is followed next. Deliveries of deleted connectors end. */
export async function recoverDeliveries(
  log: DeliveryLog,
  {
    from,
    existing,
  }: {
    readonly from: number;
    /** Those of the connectors that exist. */
    readonly existing: (connectorIds: readonly string[]) => Promise<ReadonlySet<string>>;
  },
): Promise<RecoveredDeliveries> {
  const { pending, known } = await log.recover(from);
  const connectors = await existing([...new Set(pending.map(({ connectorId }) => connectorId))]);
  const waiting = pending
    .filter(({ connectorId }) => connectors.has(connectorId))
    .toSorted((a, b) => a.sequence - b.sequence)
    .map((row) => waitingRecord(row, row.place));
  return { waiting, known };
}

// Refusals: what intakes refused, counted in memory for a second and then written for the owners (contract 39.3).
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { networkOf } from '../access/sign-in-throttle.ts';
import { kindPrefixes } from '../model/ids.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Problem } from '../model/problem.ts';
import {
  type Refusal,
  refusalLimits,
  type RefusalReason,
  refusalReasonOf,
  type RefusalTransport,
  type SentHints,
} from '../model/refused-uplink.ts';
import {
  addRefusals,
  connectorsOfDevices,
  dropOldRefusals,
  placesOfConnectors,
} from '../storage/records/rows/payload-notes.ts';
import type { Records } from '../storage/records/records.ts';
import { transaction } from '../storage/records/transaction.ts';
import { SharedPool } from '../structures/shared-pool.ts';
import type { SetTimer } from '../structures/timers.ts';

/** An uplink that was not taken. */
export interface RefusedUplink {
  readonly transport: RefusalTransport;
  readonly failure: Pick<Problem, 'status' | 'message'>;
  /** As the sender named it. */
  readonly deviceId: string | null | undefined;
  /** Of the payload. */
  readonly bytes: number;
  /** Its first bytes; absent without the right secret. */
  readonly payload?: Buffer | undefined;
  /** What was said of the payload. */
  readonly sent?: SentHints | undefined;
}

/**
 * Whose uplink it was. Without the right secret there is an address, and perhaps the connector that
 * was named; else the device may tell the connector.
 */
type RefusedBy =
  | { readonly connectorId: string; readonly address?: undefined }
  | { readonly connectorId?: string; readonly address: string };

/** What has come since the last writing. */
interface Pending extends Omit<Refusal, 'id' | 'organizationId' | 'workspaceId' | 'connectorId'> {
  /** Undefined while only the device is known. */
  readonly connectorId: string | undefined;
  /** Of a wrong secret: the network that it came from. */
  readonly guessedBy: string | undefined;
}

const writeAfterMs = 1_000;
/** Kinds of refusals that wait to be written, of all connectors and networks. */
const pendingMax = 1_000;
/** Names of senders without the right secret that one writing looks up, and so one second. */
const lookUpsMax = 20;

/** Costs no write while nothing is refused, and one transaction a second at most. */
export class Refusals {
  readonly #records: Records;
  readonly #now: () => EpochMs;
  readonly #setTimer: SetTimer;
  readonly #failed: (error: unknown) => void;
  readonly #pending = new Map<string, Pending>();
  /** A sender that invents devices takes the room of its own connector or network first. */
  readonly #room: SharedPool<string>;
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    records: Records,
    now: () => EpochMs,
    setTimer: SetTimer,
    failed: (error: unknown) => void,
  ) {
    this.#records = records;
    this.#now = now;
    this.#setTimer = setTimer;
    this.#failed = failed;
    this.#room = new SharedPool({
      max: pendingMax,
      giveWay: (key) => void this.#pending.delete(key),
    });
  }

  /** Ignores what may succeed later. */
  add(by: RefusedBy, uplink: RefusedUplink): void {
    const reason = refusalReasonOf(uplink.failure.status);
    if (reason === undefined) return;
    const deviceId = nameOf(uplink.deviceId);
    const connectorId = by.connectorId?.slice(0, refusalLimits.deviceIdLengthMax);
    if (connectorId === undefined && deviceId === null) return;
    const key = JSON.stringify([connectorId, reason, deviceId]);
    const at = this.#now();
    const before = this.#pending.get(key);
    const network = by.address === undefined ? undefined : networkOf(by.address);
    this.#pending.set(key, {
      connectorId,
      guessedBy: network,
      reason,
      deviceId,
      transport: uplink.transport,
      status: uplink.failure.status,
      message: textOf(uplink.failure.message, refusalLimits.messageLengthMax),
      first: before?.first ?? at,
      last: at,
      count: (before?.count ?? 0) + 1,
      bytes: uplink.bytes,
      ...payloadOf(reason === 'WRONG_SECRET' ? undefined : uplink),
    });
    if (!this.#room.hold(network ?? by.connectorId ?? '', key, 1)) this.#pending.delete(key);
    this.#cancelTimer ??= this.#setTimer(() => this.#write(), writeAfterMs);
  }

  /** Writes what is pending. Resolves when it is durable, or has failed. */
  async close(): Promise<void> {
    this.#cancelTimer?.();
    this.#write();
    await this.#writing;
    this.#cancelTimer?.();
  }

  async dropOld(): Promise<void> {
    const records = this.#records;
    const now = this.#now;
    await dropOldRefusals(records.db, now() - refusalLimits.ageMsMax);
  }

  /** One after the other, so that a slow database does not gather writes. */
  #write(): void {
    this.#cancelTimer = undefined;
    this.#writing = this.#writing.then(async () => {
      const due = dueOf(this.#pending);
      const pending = [...due.values()];
      for (const key of due.keys()) {
        this.#room.release(key);
        this.#pending.delete(key);
      }
      if (this.#pending.size > 0)
        this.#cancelTimer ??= this.#setTimer(() => this.#write(), writeAfterMs);
      try {
        await this.#store(pending);
      } catch (error) {
        // They are counts for people; what is refused next is told again.
        this.#failed(error);
      }
    });
  }

  async #store(pending: readonly Pending[]): Promise<void> {
    if (pending.length === 0) return;
    const records = this.#records;
    const strangers = pending.filter(({ connectorId }) => connectorId === undefined);
    const named = strangers.map(({ deviceId }) => deviceId ?? '');
    const connectors = await connectorsOfDevices(records.committed, named);
    const found = sumsOf(
      pending.flatMap((one) => {
        const connectorId = one.connectorId ?? connectors.get(one.deviceId ?? '');
        return connectorId === undefined ? [] : [{ ...one, connectorId }];
      }),
    );
    if (found.length === 0) return;
    await transaction(
      records.db,
      async ({ db }) => {
        const ids = [...new Set(found.map(({ connectorId }) => connectorId))];
        const places = await placesOfConnectors(db, ids);
        const rows = found.flatMap(({ guessedBy: _, ...one }) => {
          const place = places.get(one.connectorId);
          return place === undefined ? [] : [{ ...one, ...place, id: idOf(one) }];
        });
        await addRefusals(db, rows);
      },
      'lazy',
    );
  }
}

/**
 * What is written now: all that came with the right secret, and of the others as many as may be looked
 * up, one of each network after the other, so that a flood of one delays no other.
 */
function dueOf(pending: ReadonlyMap<string, Pending>): ReadonlyMap<string, Pending> {
  const due = new Map<string, Pending>();
  const guesses = new Map<string, [string, Pending][]>();
  for (const [key, one] of pending) {
    if (one.guessedBy === undefined) due.set(key, one);
    else if (guesses.has(one.guessedBy)) guesses.get(one.guessedBy)?.push([key, one]);
    else guesses.set(one.guessedBy, [[key, one]]);
  }
  for (let looked = 0, turn = 0; looked < lookUpsMax && guesses.size > 0; turn++)
    for (const [network, own] of guesses) {
      const next = own[turn];
      if (next === undefined) guesses.delete(network);
      else if (looked++ < lookUpsMax) due.set(...next);
    }
  return due;
}

interface Found extends Pending {
  readonly connectorId: string;
}

/** A wrong secret can be told by its device and by its connector; a statement adds to a row once. */
function sumsOf(found: readonly Found[]): readonly Found[] {
  const sums = new Map<string, Found>();
  for (const one of found) {
    const id = idOf(one);
    const before = sums.get(id);
    if (before === undefined) sums.set(id, one);
    else sums.set(id, { ...one, first: before.first, count: before.count + one.count });
  }
  return [...sums.values()];
}

/** The same for the same connector, reason and device, on every node. */
function idOf({
  connectorId,
  reason,
  deviceId,
}: {
  readonly connectorId: string;
  readonly reason: RefusalReason;
  readonly deviceId: string | null;
}): string {
  const text = JSON.stringify([connectorId, reason, deviceId]);
  return kindPrefixes.refusal + hash('sha256', text, 'hex').slice(0, 14);
}

/** Cut before it becomes a key, and without what no engine keeps in a column. */
function nameOf(deviceId: string | null | undefined): string | null {
  return deviceId ? textOf(deviceId, refusalLimits.deviceIdLengthMax) : null;
}

function textOf(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).toWellFormed().replaceAll('\0', '\ufffd');
}

function payloadOf(
  uplink: RefusedUplink | undefined,
): Pick<Refusal, 'payload' | 'payloadForm' | 'sent'> {
  if (uplink?.payload === undefined) return { payload: null, payloadForm: null, sent: null };
  const sent = hintsOf(uplink.sent);
  const start = uplink.payload.subarray(0, refusalLimits.payloadBytesMax);
  const text = wholeText(start);
  if (isUtf8(text) && !text.includes(0))
    return { payload: text.toString('utf8'), payloadForm: 'TEXT', sent };
  return { payload: start.toString('hex'), payloadForm: 'HEX', sent };
}

function hintsOf({ timestamp = null, ...texts }: SentHints = {}): SentHints {
  const cut = Object.entries(texts).flatMap(([name, text]) =>
    typeof text === 'string' && text !== ''
      ? [[name, textOf(text, refusalLimits.hintLengthMax)]]
      : [],
  );
  return { ...Object.fromEntries(cut), timestamp };
}

/** Without the character that the cut divided, if it is text. */
function wholeText(start: Buffer): Buffer {
  if (start.length < refusalLimits.payloadBytesMax) return start;
  for (let cut = 0; cut < 4; cut++) {
    const text = start.subarray(0, start.length - cut);
    if (isUtf8(text)) return text;
  }
  return start;
}

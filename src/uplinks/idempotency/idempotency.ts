// Idempotency-Key: the same key within a day gets the first answer, and the work is done once (contract 35).
import { createHash, type Hash } from 'node:crypto';
import { change, type Inventory } from '../../inventory/record-crud.ts';
import { dayMs, type EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import { problem, Problem } from '../../model/problem.ts';
import {
  type DurableEntry,
  durablePart,
  type DurablePart,
  type StoredPart,
} from '../../model/journal-entry.ts';
import { createBoundedMap } from '../../structures/caches.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import { type Records, type RecordsDb, transaction } from '../../storage/records/records.ts';
import { keptAnswerRows } from '../../storage/records/rows/idempotency-keys.ts';
import type { Telemetry } from '../../telemetry/events.ts';

// Idempotency-Key of streamed requests: the hash of the body is known only at its end (contract 35).

type Bytes = AsyncIterable<Uint8Array>;

export type OnceStreamed = (
  call: Omit<IdempotentCall, 'body'>,
  body: Bytes,
  work: (body: Bytes, attempt: Attempt) => Promise<FirstAnswer>,
) => Promise<FirstAnswer>;

interface Done {
  readonly answer: FirstAnswer;
  readonly bodyHash: string;
}

/** Replaces a hash that is not known yet. */
const noHash = '';

/**
 * Runs the work unless the key has an answer; then the body is read to compare it. Rules as in
 * `idempotency`: `work` gets the time of the first request and the parts that are durable, 422 for
 * another body, and a refused request leaves no trace. `work` must read the body to its end.
 */
export function createOnceStreamed(records: IdempotencyRecords, now: () => EpochMs): OnceStreamed {
  const inProgress = new Map<string, Promise<Done>>();
  const attempts = new Attempts(records);

  async function firstAnswer(
    id: string,
    body: Bytes,
    work: (body: Bytes, attempt: Attempt) => Promise<FirstAnswer>,
  ): Promise<Done> {
    const seenAt = now();
    const reserve = () =>
      records.reserve({ id, bodyHash: noHash, firstSeenAt: seenAt, answer: null });
    const known = (await attempts.find(id, seenAt - idempotencyKeptMs)) ?? (await reserve());
    if (known?.answer)
      return sameStreamedBody(
        { answer: known.answer, bodyHash: known.bodyHash },
        await hashOf(body),
      );
    const firstSeenAt = known?.firstSeenAt ?? seenAt;
    const hash = createHash('sha256');
    const kept = { id, bodyHash: noHash, firstSeenAt, durable: known?.durable ?? [] };
    return attempts.run(
      kept,
      (attempt) => work(hashed(body, hash), attempt),
      () => hash.digest('hex'),
    );
  }

  return async (call, body, work) => {
    const id = keptIdOf(call);
    const other = inProgress.get(id);
    if (other !== undefined) {
      const bodyHash = await hashOf(body);
      return sameStreamedBody(await other, bodyHash).answer;
    }
    const done = firstAnswer(id, body, work);
    inProgress.set(id, done);
    try {
      return (await done).answer;
    } finally {
      inProgress.delete(id);
    }
  };
}

function sameStreamedBody(first: Done, bodyHash: string): Done {
  if (first.bodyHash !== bodyHash) throw problem('idempotencyKeyReused');
  return first;
}

async function* hashed(body: Bytes, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
}

async function hashOf(body: Bytes): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}

export const idempotencyKeptMs = dayMs;
const keyLengthMax = 255;
/** What could not be saved is kept in memory, for so many keys; the oldest is evicted. */
const heldMax = 10_000;

export interface FirstAnswer {
  readonly status: number;
  /** As JSON can carry it. */
  readonly body: unknown;
}

/**
 * A key as the records keep it; `answer` is null while the first request is in progress, or was cut
 * off.
 */
export interface IdempotencyRecord {
  readonly id: string;
  readonly bodyHash: string;
  readonly firstSeenAt: EpochMs;
  readonly answer: FirstAnswer | null;
  /** Parts of an interrupted request that are in the journal. */
  readonly durable: readonly StoredPart[];
}

export interface IdempotencyRecords {
  readonly find: (id: string, seenAfter: EpochMs) => Promise<IdempotencyRecord | undefined>;
  /**
   * Reserves the key. Returns the record of it when another node was first: that one has an answer,
   * or broke off and is of this process now.
   */
  readonly reserve: (
    record: Omit<IdempotencyRecord, 'durable'>,
  ) => Promise<IdempotencyRecord | undefined>;
  /** `bodyHash` is given when it was not known at first. */
  readonly complete: (id: string, answer: FirstAnswer, bodyHash?: string) => Promise<void>;
  /** Keeps the reservation of a request that broke off, with what of it is durable. */
  readonly interrupt: (id: string, durable: readonly StoredPart[]) => Promise<void>;
  readonly release: (id: string) => Promise<void>;
  /** Runs the work and keeps its answer in one transaction. */
  readonly create: (
    kept: Omit<IdempotencyRecord, 'answer' | 'durable'>,
    work: (step: Inventory) => Promise<FirstAnswer>,
  ) => Promise<FirstAnswer>;
  /** Is told that the records refused an answer; the answer itself goes out. */
  readonly failed: (error: unknown) => void;
}

export interface IdempotentCall {
  /** Whose key it is: a key counts per credential and route. */
  readonly credential: string;
  readonly route: string;
  readonly key: string;
  readonly body: Json | undefined;
}

export class Once {
  readonly #records: IdempotencyRecords;
  readonly #now: () => EpochMs;
  readonly #inProgress = new Map<
    string,
    { readonly bodyHash: string; readonly answer: Promise<FirstAnswer> }
  >();
  readonly #attempts: Attempts;

  constructor(records: IdempotencyRecords, now: () => EpochMs) {
    this.#records = records;
    this.#now = now;
    this.#attempts = new Attempts(records);
  }

  /**
   * For work that the journal makes durable. `work` gets the time of the first request and what
   * was stored already, so that a retry after a crash stores nothing twice. Throws Problem 422 for
   * the same key with another body; a refused request leaves no trace.
   */
  readonly stored = (
    call: IdempotentCall,
    work: (attempt: Attempt) => Promise<FirstAnswer>,
  ): Promise<FirstAnswer> =>
    this.#once(call, async (id, bodyHash) => {
      const seenAt = this.#now();
      const reserve = () =>
        this.#records.reserve({ id, bodyHash, firstSeenAt: seenAt, answer: null });
      const record = (await this.#known(id, bodyHash)) ?? sameBody(await reserve(), bodyHash);
      if (record?.answer) return record.answer;
      const firstSeenAt = record?.firstSeenAt ?? seenAt;
      return (
        await this.#attempts.run(
          { id, bodyHash, firstSeenAt, durable: record?.durable ?? [] },
          work,
        )
      ).answer;
    });

  /** For work on records: the record and its key are one transaction. */
  created(
    call: IdempotentCall,
    work: (step: Inventory) => Promise<FirstAnswer>,
  ): Promise<FirstAnswer> {
    return this.#once(call, async (id, bodyHash) => {
      const record = await this.#known(id, bodyHash);
      return (
        record?.answer ??
        this.#records.create(
          { id, bodyHash, firstSeenAt: record?.firstSeenAt ?? this.#now() },
          work,
        )
      );
    });
  }

  async #once(call: IdempotentCall, work: (id: string, bodyHash: string) => Promise<FirstAnswer>) {
    const id = keptIdOf(call);
    const bodyHash = hash(JSON.stringify(call.body ?? null));
    const other = this.#inProgress.get(id);
    if (other !== undefined) {
      if (other.bodyHash !== bodyHash) throw problem('idempotencyKeyReused');
      return other.answer;
    }
    const answer = work(id, bodyHash);
    this.#inProgress.set(id, { bodyHash, answer });
    try {
      return await answer;
    } finally {
      this.#inProgress.delete(id);
    }
  }

  /** Throws Problem 422 for a key that was used with another body. */
  async #known(id: string, bodyHash: string): Promise<IdempotencyRecord | undefined> {
    return sameBody(await this.#attempts.find(id, this.#now() - idempotencyKeptMs), bodyHash);
  }
}

function sameBody(
  record: IdempotencyRecord | undefined,
  bodyHash: string,
): IdempotencyRecord | undefined {
  if (record !== undefined && record.bodyHash !== bodyHash) throw problem('idempotencyKeyReused');
  return record;
}

/**
 * Tries of reserved keys. What the records refuse to keep is held in memory, so that a retry
 * finds it until the process ends.
 */
export class Attempts {
  readonly #records: IdempotencyRecords;
  readonly #held = createBoundedMap<string, IdempotencyRecord>(heldMax);

  constructor(records: IdempotencyRecords) {
    this.#records = records;
  }

  /** The record, with what could not be saved of it. */
  async find(id: string, seenAfter: EpochMs): Promise<IdempotencyRecord | undefined> {
    const record = this.#held.get(id);
    if (record !== undefined && record.firstSeenAt > seenAfter) return record;
    return this.#records.find(id, seenAfter);
  }

  /**
   * Runs the work of a reserved key and keeps its answer; `work` says the hash of the body when it
   * was not known before.
   */
  async run(
    kept: Omit<IdempotencyRecord, 'answer'>,
    work: (attempt: Attempt) => Promise<FirstAnswer>,
    bodyHash: () => string = () => kept.bodyHash,
  ): Promise<{ readonly answer: FirstAnswer; readonly bodyHash: string }> {
    const durable = [...kept.durable];
    try {
      const answer = await work(new Attempt(kept, durable));
      const hashed = bodyHash();
      // What is durable is answered. Without the saved answer the reservation stays, and the
      // journal tells after a crash.
      await this.#records.complete(kept.id, answer, hashed).then(
        () => this.#held.delete(kept.id),
        (error: unknown) => this.#hold({ ...kept, bodyHash: hashed, answer, durable }, error),
      );
      return { answer, bodyHash: hashed };
    } catch (error) {
      if (isRefusal(error)) {
        this.#held.delete(kept.id);
        await this.#records.release(kept.id);
      } else {
        const broken = { ...kept, answer: null, durable };
        await this.#records
          .interrupt(kept.id, durable)
          .catch((failure: unknown) => this.#hold(broken, failure));
      }
      throw error;
    }
  }

  #hold(record: IdempotencyRecord, error: unknown): void {
    this.#records.failed(error);
    this.#held.set(record.id, record);
  }
}

/**
 * A request that the caller must change. After any other failure it is unknown what became durable,
 * so that its key stays; and another request with the key says nothing of the first one.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof Problem && error.status < 500 && error.problem !== 'idempotencyKeyReused';
}

/**
 * One try of a request with a key. Its parts are journal entries: each is found again after a
 * crash by its duplicate key.
 */
export class Attempt {
  /** When the key was first seen. */
  readonly firstSeenAt: EpochMs;
  readonly #id: string;
  readonly #durable: StoredPart[];
  readonly #parts: Map<string, StoredPart>;

  constructor(
    { id, firstSeenAt, durable: before }: Omit<IdempotencyRecord, 'answer'>,
    durable: StoredPart[],
  ) {
    this.#id = id;
    this.firstSeenAt = firstSeenAt;
    this.#durable = durable;
    this.#parts = new Map(before.map((one) => [one.part, one]));
  }

  /**
   * What an earlier try made durable of this part. Throws Problem 422 when that part had another
   * content.
   */
  readonly stored = (part: string, contentHash: string = ''): DurablePart | undefined => {
    const stored = this.#parts.get(part);
    if (stored !== undefined && stored.contentHash !== contentHash)
      throw problem('idempotencyKeyReused');
    return stored;
  };

  /** The duplicate key of the part's journal entry. */
  readonly duplicateKey = (part: string, contentHash: string = ''): string =>
    durablePart.toDuplicateKey({ id: this.#id, part, contentHash });

  /** To be told when the part is durable. */
  readonly done = (part: StoredPart): void => void this.#durable.push(part);

  /** Whether an earlier try made something durable of this part. */
  isStored(part: string): boolean {
    return this.#parts.has(part);
  }
}

/** Under which a key is kept. Throws Problem `invalidRequest` for a key that is too long. */
function keptIdOf({ credential, route, key }: Omit<IdempotentCall, 'body'>): string {
  if (key.length > keyLengthMax) {
    throw problem('invalidRequest', {
      reason: `Idempotency-Key must be at most ${keyLengthMax} characters`,
    });
  }
  return hash(`${credential}\n${route}\n${key}`);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

// Idempotency records: keys and answers in the database, and durable parts of unanswered requests after a crash (contract 35).

/** Durable parts of one request by name. */
type PartsByName = Map<string, StoredPart>;

/** Call once at the start, before the first request. */
export async function recoverDurableParts(
  db: RecordsDb,
  log: Pick<EntryLog, 'position' | 'entriesFrom'>,
  now: EpochMs,
): Promise<void> {
  const unanswered = await keptAnswerRows.unanswered(db, now - idempotencyKeptMs);
  if (unanswered.length === 0) return;
  const requests = new Map<string, PartsByName>();
  let from = log.position;
  for (const { id, durable, journalPosition } of unanswered) {
    requests.set(id, new Map(durable.map((stored) => [stored.part, stored])));
    from = Math.min(from, journalPosition);
  }
  for await (const entries of log.entriesFrom(from))
    for (const entry of entries) addPart(entry, requests);
  const { position } = log;
  await transaction(db, async (step) => {
    for (const [id, parts] of requests)
      await keptAnswerRows.saveDurable(step.db, id, [...parts.values()], position);
  });
}

/** Adds the entry to the request of which it is a part, unless that part is known. */
function addPart(
  { trace, receivedAt, samples, metrics }: DurableEntry,
  requests: ReadonlyMap<string, PartsByName>,
): void {
  const name = durablePart.fromDuplicateKey(trace?.duplicateKey ?? '');
  const parts = name && requests.get(name.id);
  if (name === undefined || parts === undefined || parts.has(name.part)) return;
  const correlationId = metrics?.uplinkId ?? samples[0]?.correlationId ?? null;
  const { part, contentHash } = name;
  const stored = samples.filter((sample) => sample.stored).length;
  const counts = { samples: samples.length, stored };
  parts.set(part, { part, contentHash, receivedAt, correlationId, ...counts });
}

// Idempotency records: keys and answers in the database, each with the journal position at its reservation.

export function createIdempotencyRecords(parts: {
  readonly records: Records;
  readonly log: Pick<EntryLog, 'position'>;
  readonly telemetry: Telemetry;
}): IdempotencyRecords {
  const { records, log, telemetry } = parts;
  const { db } = records;
  return {
    find: (id, seenAfter) => keptAnswerRows.find(db, id, seenAfter),
    async reserve(record) {
      await keptAnswerRows.insert(db, { ...record, journalPosition: log.position });
      return undefined;
    },
    complete: (id, answer, bodyHash) => keptAnswerRows.save(db, id, answer, bodyHash),
    interrupt: (id, durable) => keptAnswerRows.saveDurable(db, id, durable),
    release: (id) => keptAnswerRows.remove(db, id),
    create: (kept, work) =>
      change(records, async (inventory) => {
        const answer = await work(inventory);
        const journalPosition = log.position;
        await keptAnswerRows.insert(inventory.db, { ...kept, answer, journalPosition });
        return answer;
      }),
    failed: (error) => telemetry.backgroundFailed('saving the answer of an Idempotency-Key', error),
  };
}

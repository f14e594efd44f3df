// Remote samples: those of a request for devices of other nodes, whose owners admit and store them.
import type { EpochMs } from '../model/instant.ts';
import type { Sample } from '../model/sample.ts';
import { createSerialQueue, type SerialQueue } from '../structures/work-queues.ts';
import type { SampleStages } from '../uplinks/sample-stages.ts';
import type { Validated } from '../uplinks/validate/sample-validation.ts';
import {
  appendOwned,
  type BackfillDevice,
  type BackfillProgress,
  countDurable,
  entryOf,
  notStoredOf,
  type SamplesOfOwner,
  type StoredSamples,
  type StoreElsewhere,
} from '../uplinks/bulk/backfill-batches.ts';
import {
  type AskOwners,
  atOwner,
  type CallOwner,
  type DeviceOwnership,
  type HeldFor,
  type OwnedRequest,
} from './owned-devices.ts';
import { isRefused, problem, problemOf, type Refusal, refusalOf } from '../model/problem.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';

/** The call between nodes. */
export const samplesCall = 'samples';

/**
 * Characters of samples in one call. One character is at most three bytes, and a quote is two in a
 * string, so that a call is shorter than `nodeLimits.callBytesMax`.
 */
const callCharsMax = 2_000_000;

/** Samples of one device, as one entry. */
interface DeviceMessage {
  readonly device: Omit<BackfillDevice, 'storedTopics'> & {
    readonly storedTopics: '*' | readonly string[];
  };
  /** JSON of `SampleMessage`s, because its length is counted. */
  readonly samples: string;
  readonly indices: readonly number[];
  /** Notes of the request on the device so far. */
  readonly notes: number;
  readonly duplicateKey?: string | undefined;
}

type SampleMessage = Omit<Sample, 'deviceId'> & {
  readonly notes?: Validated['notes'];
};

interface SamplesMessage {
  readonly correlationId: string;
  readonly receivedAt: EpochMs;
  readonly devices: readonly DeviceMessage[];
}

type DeviceOutcome = (StoredSamples & { readonly notes: number }) | Refusal;

/** What of a device goes into one call. */
interface Piece {
  readonly workspaceId: string;
  readonly of: SamplesOfOwner;
  readonly samples: string;
  readonly chars: number;
  readonly indices: readonly number[];
  /** Only of the last piece: a part that is repeated is complete when that one is stored. */
  readonly isLast: boolean;
}

/**
 * Sends samples to the owners of their devices, and counts what they have stored. Groups of one
 * request are sent in order. Throws the first Problem of an owner, when all have answered.
 */
export function createRemoteSamples(askOwners: AskOwners, here: SamplesOfNode): StoreElsewhere {
  const orders = new WeakMap<BackfillProgress, SerialQueue>();
  return async (samples, request) => {
    const { progress } = request;
    const order = orders.get(progress) ?? createSerialQueue();
    orders.set(progress, order);
    await order.run(async () => {
      const pieces = samples.flatMap(piecesOf);
      const own = await askOwners(pieces, (ofNode, call) => sendPieces(ofNode, request, call));
      // Devices that moved to this node meanwhile.
      const stored = own.map((piece) => storePiece(piece, request, here));
      for (const result of await Promise.allSettled(stored))
        if (result.status === 'rejected') throw result.reason;
    });
  };
}

type Request = Parameters<StoreElsewhere>[1];

function piecesOf(of: SamplesOfOwner): Piece[] {
  const pieces: Piece[] = [];
  let texts: string[] = [];
  let indices: number[] = [];
  let chars = 0;
  const end = (isLast: boolean): void => {
    pieces.push({
      workspaceId: of.device.origin.workspaceId,
      of,
      samples: `[${texts.join(',')}]`,
      chars,
      indices,
      isLast,
    });
    [texts, indices, chars] = [[], [], 0];
  };
  for (const [i, { sample, notes }] of of.checked.entries()) {
    const { topic, timestamp, data, meta } = sample;
    const text = JSON.stringify({
      topic,
      timestamp,
      data,
      meta,
      notes: notes.length > 0 ? notes : undefined,
    });
    if (chars + text.length > callCharsMax && texts.length > 0) end(false);
    texts.push(text);
    indices.push(of.indices[i] ?? 0);
    chars += text.length;
  }
  end(true);
  return pieces;
}

/** Sends pieces of one node in their order; returns those of devices that it does not hold. */
async function sendPieces(
  pieces: readonly Piece[],
  request: Request,
  call: CallOwner,
): Promise<readonly Piece[]> {
  const notHeld: Piece[] = [];
  let failure: Refusal | undefined;
  let isReached = true;
  for (const sent of callsOf(pieces)) {
    const answer: unknown = isReached
      ? await call(samplesCall, messageOf(sent, request))
      : undefined;
    isReached = answer !== undefined;
    if (!isReached) notHeld.push(...sent);
    const outcomes = (answer ?? []) as unknown;
    for (const [i, outcome] of (outcomes as readonly DeviceOutcome[]).entries()) {
      const piece = sent[i];
      if (piece === undefined) break;
      if (!isRefused(outcome)) count(piece, outcome, request);
      else if (outcome.problem === 'deviceMoved') notHeld.push(piece);
      else failure ??= outcome;
    }
  }
  if (failure !== undefined) throw problemOf(failure);
  return notHeld;
}

function count({ of, isLast }: Piece, outcome: StoredSamples & { notes: number }, to: Request) {
  const { progress } = to;
  countDurable(outcome, isLast ? of.part : undefined, progress);
  if (outcome.notes > 0) progress.notes.set(of.device.id, outcome.notes);
}

function* callsOf(pieces: readonly Piece[]): Generator<readonly Piece[]> {
  let sent: Piece[] = [];
  let chars = 0;
  for (const piece of pieces) {
    if (chars + piece.chars > callCharsMax && sent.length > 0) {
      yield sent;
      [sent, chars] = [[], 0];
    }
    sent.push(piece);
    chars += piece.chars;
  }
  if (sent.length > 0) yield sent;
}

function messageOf(pieces: readonly Piece[], { receivedAt, progress }: Request): unknown {
  const { correlationId } = progress;
  const devices = pieces.map((piece): DeviceMessage => {
    const { device } = piece.of;
    const { id, origin, storedTopics, keptDays, implausibleTimes, calculates, onlineForMs } =
      device;
    return {
      device: {
        id,
        origin,
        storedTopics: storedTopics === '*' ? '*' : [...storedTopics],
        keptDays,
        implausibleTimes,
        calculates,
        ...(onlineForMs !== undefined && { onlineForMs }),
      },
      samples: piece.samples,
      indices: piece.indices,
      notes: progress.notes.get(id) ?? 0,
      duplicateKey: keyOf(piece),
    };
  });
  const message: SamplesMessage = { correlationId, receivedAt, devices };
  return message;
}

function keyOf({ of: { part }, isLast }: Piece): string | undefined {
  return isLast ? part?.attempt.duplicateKey(part.name, part.contentHash) : undefined;
}

/** What stores samples at this node. */
interface SamplesOfNode {
  readonly stages: SampleStages;
  readonly heldFor: HeldFor;
}

async function storePiece(piece: Piece, request: Request, own: SamplesOfNode): Promise<void> {
  const { receivedAt, progress } = request;
  const { device } = piece.of;
  const stored = await storeOwn(
    {
      device,
      indices: piece.indices,
      checked: checkedOf(piece.samples, device.id),
      receivedAt,
      duplicateKey: keyOf(piece),
      correlationId: progress.correlationId,
      notes: progress.notes.get(device.id) ?? 0,
    },
    own,
  );
  count(piece, stored, request);
}

interface OwnSamples extends Omit<SamplesOfOwner, 'part'> {
  readonly correlationId: string;
  readonly receivedAt: EpochMs;
  readonly notes: number;
  readonly duplicateKey: string | undefined;
}

async function storeOwn(
  { device, checked, duplicateKey, correlationId, receivedAt, indices, notes: before }: OwnSamples,
  { stages, heldFor }: SamplesOfNode,
): Promise<StoredSamples & { readonly notes: number }> {
  const admitted = await stages.admit(device.id, checked);
  const notes = new Map([[device.id, before]]);
  const progress = { correlationId, notes };
  const calculated = await stages.calculate(device.id, admitted);
  const entry = entryOf(calculated, { device, indices }, { receivedAt, progress, stages });
  const trace = duplicateKey === undefined ? {} : { trace: { duplicateKey } };
  const { samples, duplicates } = await appendOwned(
    { ...entry, ...trace },
    device.origin.workspaceId,
    stages,
    heldFor,
  );
  const notStored = notStoredOf(
    samples.map(({ topic }) => topic),
    device,
  );
  const counts = { samples: samples.length, duplicates, notStored };
  return { receivedAt, ...counts, notes: notes.get(device.id) ?? 0 };
}

function checkedOf(samples: string, deviceId: string): Validated[] {
  return (JSON.parse(samples) as SampleMessage[]).map(({ notes = [], ...sample }) => ({
    sample: { deviceId, ...sample },
    notes,
    metrics: {},
  }));
}

/** Answers the call of another node: for each device what was stored, or why not. */
export function samplesReceiver(own: SamplesOfNode) {
  return async (request: unknown): Promise<unknown> => {
    const { correlationId, receivedAt, devices } = request as SamplesMessage;
    const outcomes = await Promise.all(
      devices.map(async ({ device: given, samples, ...message }): Promise<DeviceOutcome> => {
        const { storedTopics } = given;
        const device = {
          ...given,
          storedTopics: storedTopics === '*' ? storedTopics : new Set(storedTopics),
        };
        const { indices, notes, duplicateKey } = message;
        const checked = checkedOf(samples, device.id);
        const sent = { device, checked, indices, notes, duplicateKey, correlationId, receivedAt };
        return storeOwn(sent, own).catch(refusalOf);
      }),
    );
    return outcomes;
  };
}

// Remote entries: finished journal entries for devices of other nodes, which their owners append.

/** The call between nodes. */
export const entriesCall = 'entries';

type AppendEntry = (entry: JournalEntry) => Promise<DurableEntry>;

type Outcome = DurableEntry | Refusal;

/** Appends an entry at the owner of its device. The position is one of the owner's journal. */
export function createRemoteEntries(
  { askOwners, deviceWorkspaces }: DeviceOwnership,
  own: SamplesOfNode,
): AppendEntry {
  return async (entry) => {
    const workspace = await deviceWorkspaces.of(entry.deviceId);
    // Of a device that was deleted meanwhile: no other node writes for it.
    if (workspace === undefined) return own.stages.store(entry);
    const { workspaceId } = workspace;
    const sent: OwnedRequest<JournalEntry> = { workspaceId, request: entry };
    const ask = async (call: CallOwner): Promise<unknown> => {
      const outcomes = await call(entriesCall, [sent]);
      if (outcomes === undefined) return undefined;
      const [outcome] = outcomes as readonly unknown[];
      if (outcome === undefined) throw problem('nodeUnreachable');
      return outcome;
    };
    const { stages, heldFor } = own;
    const here = async () =>
      appendOwned(await stages.withCalculatedKeys(entry), workspaceId, stages, heldFor);
    return atOwner<DurableEntry>(askOwners, workspaceId, ask, here);
  };
}

/** Answers the call of another node: for each entry what became durable of it, or why nothing did. */
export function entriesReceiver(own: SamplesOfNode) {
  return async (request: unknown): Promise<unknown> => {
    const entries = request as readonly OwnedRequest<JournalEntry>[];
    const outcomes = await Promise.all(
      entries.map((entry): Promise<Outcome> => appendAdmitted(entry, own).catch(refusalOf)),
    );
    return outcomes;
  };
}

/** The owner knows the names of the device that are not stored for all yet. */
async function appendAdmitted(
  { workspaceId, request: entry }: OwnedRequest<JournalEntry>,
  { stages, heldFor }: SamplesOfNode,
): Promise<DurableEntry> {
  const { deviceId, receivedAt, samples } = entry;
  if (samples.length === 0) return appendOwned(entry, workspaceId, stages, heldFor);
  const given = samples.map(
    (sample): Validated => ({
      sample,
      notes: [],
      metrics: {},
    }),
  );
  const admitted = await stages.admit(deviceId, given);
  const notes = admitted.flatMap((one, i) =>
    one.notes.map((note) => ({
      id: stages.newId(),
      deviceId,
      timestamp: receivedAt,
      ...note,
      correlationId: samples[i]?.correlationId ?? '',
    })),
  );
  const permitted = admitted.map(({ sample }) => sample as (typeof samples)[number]);
  const permittedEntry = { ...entry, samples: permitted, notes: [...entry.notes, ...notes] };
  return appendOwned(await stages.withCalculatedKeys(permittedEntry), workspaceId, stages, heldFor);
}

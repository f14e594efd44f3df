// Remote entries: finished journal entries for devices of other nodes, which their owners append.
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import { problem, type Refusal, refusalOf } from '../model/problem.ts';
import type { Sample } from '../model/sample.ts';
import { appendOwned, type BatchStages } from '../uplinks/bulk/backfill-batches.ts';
import type { ValidatedSample } from '../uplinks/validate/sample-validation.ts';
import { type AskOwners, atOwner, type CallOwner } from './owned-devices.ts';

/** The call between nodes. */
export const entriesCall = 'entries';

export type AppendEntry = (entry: JournalEntry) => Promise<DurableEntry>;

type EntryStages = Pick<BatchStages, 'append' | 'announce' | 'admit' | 'heldFor' | 'newId'>;

type Outcome = DurableEntry | Refusal;

/** Appends an entry at the owner of its device. The position is one of the owner's journal. */
export function createRemoteEntries(askOwners: AskOwners, on: EntryStages): AppendEntry {
  return async (entry) => {
    const { deviceId } = entry;
    const ask = async (call: CallOwner): Promise<unknown> => {
      const outcomes = await call(entriesCall, [entry]);
      if (outcomes === undefined) return undefined;
      const [outcome] = outcomes as readonly unknown[];
      if (outcome === undefined) throw problem('nodeUnreachable');
      return outcome;
    };
    return atOwner<DurableEntry>(askOwners, deviceId, ask, () => appendOwned(entry, on));
  };
}

/** Answers the call of another node: for each entry what became durable of it, or why nothing did. */
export function entriesReceiver(on: EntryStages) {
  return async (request: unknown): Promise<unknown> => {
    const entries = request as readonly JournalEntry[];
    const outcomes = await Promise.all(
      entries.map((entry): Promise<Outcome> => appendAdmitted(entry, on).catch(refusalOf)),
    );
    return outcomes;
  };
}

/** The owner knows the names of the device that are not stored for all yet. */
async function appendAdmitted(entry: JournalEntry, on: EntryStages): Promise<DurableEntry> {
  const { deviceId, receivedAt, samples } = entry;
  if (samples.length === 0) return appendOwned(entry, on);
  const given = samples.map(
    (sample): ValidatedSample<Sample> => ({
      sample,
      notes: [],
      metrics: {},
    }),
  );
  const admitted = await on.admit(deviceId, given);
  const notes = admitted.flatMap((one, i) =>
    one.notes.map((note) => ({
      id: on.newId(),
      deviceId,
      timestamp: receivedAt,
      ...note,
      correlationId: samples[i]?.correlationId ?? '',
    })),
  );
  const permitted = admitted.map(({ sample }) => sample as (typeof samples)[number]);
  return appendOwned({ ...entry, samples: permitted, notes: [...entry.notes, ...notes] }, on);
}

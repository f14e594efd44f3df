// Replay: what was stored since a cursor or a time, in the order of the journal.
import type { EntryDecoder } from './entry-decoding.ts';
import type { Journal } from './journal.ts';
import { cursorAt, readCursor } from '../model/cursor.ts';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import type { StoredSample } from '../model/sample.ts';

export type ReplayStart = { readonly cursor: string } | { readonly storedSince: EpochMs };

const batchMax = 1_000;

/** See `EntryLog.replay`. */
export async function* replaySamples(
  journal: Journal,
  decoder: EntryDecoder,
  since: ReplayStart,
  deviceIds: ReadonlySet<string>,
): AsyncGenerator<readonly StoredSample[]> {
  const start = await startOf(journal, since);
  let batch: StoredSample[] = [];
  for await (const entries of readEntries(journal, decoder, start.position)) {
    for (const entry of entries) {
      // The samples of an entry in columns are of one device, and are not read for another.
      if (entry.summary !== undefined && !deviceIds.has(entry.deviceId)) continue;
      for (const sample of entry.samples)
        if (sample.stored && sample.cursor > start.after && deviceIds.has(sample.deviceId))
          batch.push(sample);
    }
    if (batch.length < batchMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Durable entries from the position on. */
export async function* readEntries(
  journal: Journal,
  decoder: EntryDecoder,
  position: number,
): AsyncGenerator<readonly DurableEntry[]> {
  for await (const entries of journal.read(position)) {
    // A batch of entries is as long as the window they are read through, some thousand samples,
    // unless one entry is larger.
    yield entries.map(decoder.durable);
  }
}

async function startOf(
  journal: Journal,
  since: ReplayStart,
): Promise<{ position: number; after: string }> {
  const oldest = journal.firstPosition();
  if ('cursor' in since) {
    const place = readCursor(since.cursor);
    // One beyond the end is of another data folder; following it would be silence until the journal
    // grows that far.
    if (place === undefined || place.position > journal.nextPosition()) {
      throw problem('invalidRequest', { reason: `${since.cursor} is not a valid cursor` });
    }
    if (place.position < oldest) throw problem('cursorTooOld', { oldest: cursorAt(oldest, 0) });
    return { position: place.position, after: since.cursor };
  }
  const { position, complete } = await journal.positionAt(since.storedSince);
  if (!complete) throw problem('cursorTooOld', { oldest: cursorAt(oldest, 0) });
  return { position, after: '' };
}

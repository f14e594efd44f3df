// Device notes: processing notes that belong to no uplink, durable in the journal like those of one.
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import type { Note } from '../model/processing-note.ts';

/** Resolves when the notes are durable. */
export type NoteDevice = (
  deviceId: string,
  notes: readonly Note[],
  correlationId: string,
) => Promise<void>;

export interface DeviceNotesParts {
  readonly appendEntry: (entry: JournalEntry) => Promise<DurableEntry>;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}

export function createDeviceNotes({ appendEntry, newId, now }: DeviceNotesParts): NoteDevice {
  return async (deviceId, notes, correlationId) => {
    if (notes.length === 0) return;
    const receivedAt = now();
    const origin = { deviceId, timestamp: receivedAt, correlationId };
    const entries = notes.map((note) => ({ id: newId(), ...origin, ...note }));
    await appendEntry({ deviceId, receivedAt, samples: [], notes: entries });
  };
}

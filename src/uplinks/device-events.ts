// Device events: recent uplinks and downlinks, and notes of devices, outputs and rules (contract 27).
import type { Downlink } from '../model/downlink.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { Note, ProcessingLogEntry } from '../model/entry-trace.ts';
import type { RawUplink } from '../model/uplink.ts';

const eventsMax = 100;

/** Limit on the events of a device in an answer, newest first. */
export interface EventSources {
  readonly uplinks: (deviceId: string, max: number) => Promise<readonly RawUplink[]>;
  readonly downlinks: (deviceId: string, max: number) => Promise<readonly Downlink[]>;
  readonly notes: (
    deviceId: string,
    source: 'OUTPUT' | 'RULE',
    max: number,
  ) => Promise<readonly ProcessingLogEntry[]>;
}

interface DeviceEvent {
  readonly id: string;
  readonly type: 'UPLINK' | 'DOWNLINK' | 'OUTPUT' | 'RULE';
  readonly at: EpochMs;
  readonly correlationId: string;
  readonly payload: JsonObject | readonly Json[];
}

/** The last hundred, newest first. */
export async function deviceEvents(deviceId: string, sources: EventSources) {
  const uplinks = await sources.uplinks(deviceId, eventsMax);
  const downlinks = await sources.downlinks(deviceId, eventsMax);
  const events: DeviceEvent[] = [...uplinks.map(uplinkEvent), ...downlinks.map(downlinkEvent)];
  for (const source of ['OUTPUT', 'RULE'] as const) {
    events.push(
      ...(await sources.notes(deviceId, source, eventsMax)).map((note) => noteEvent(note, source)),
    );
  }
  return events
    .sort((one, other) => other.at - one.at)
    .slice(0, eventsMax)
    .map(({ at, ...event }) => ({ ...event, timestamp: formatInstant(at) }));
}

function uplinkEvent({ id, receivedAt, payload }: RawUplink): DeviceEvent {
  return { id, type: 'UPLINK', at: receivedAt, correlationId: id, payload: payload.body };
}

function downlinkEvent({
  id,
  created,
  updated,
  correlationId,
  ...downlink
}: Downlink): DeviceEvent {
  const { state, port, confirmed, payloadHex, topic, payload, error } = downlink;
  const told = { state, port, confirmed, payloadHex, topic, payload, error };
  return { id, type: 'DOWNLINK', at: updated ?? created, correlationId, payload: told };
}

function noteEvent(note: ProcessingLogEntry, type: 'OUTPUT' | 'RULE'): DeviceEvent {
  const { id, timestamp, correlationId, level, message, details = null } = note;
  return { id, type, at: timestamp, correlationId, payload: { level, message, details } };
}

// Device notes: processing notes that belong to no uplink, durable in the journal like those of one.

/** Resolves when the notes are durable. */
export type NoteDevice = (
  deviceId: string,
  notes: readonly Note[],
  correlationId: string,
) => Promise<void>;

export function createDeviceNotes({
  appendEntry,
  newId,
  now,
}: {
  readonly appendEntry: (entry: JournalEntry) => Promise<DurableEntry>;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}): NoteDevice {
  return async (deviceId, notes, correlationId) => {
    if (notes.length === 0) return;
    const receivedAt = now();
    const origin = { deviceId, timestamp: receivedAt, correlationId };
    const entries = notes.map((note) => ({ id: newId(), ...origin, ...note }));
    await appendEntry({ deviceId, receivedAt, samples: [], notes: entries });
  };
}

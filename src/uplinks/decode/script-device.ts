// A device as scripts see it, and the notes that every kind of script can leave (contract 15).
import { noteOfExact } from '../../model/exact-json.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Note, NoteSource } from '../../model/processing-note.ts';
import type { UplinkDevice } from '../../model/uplink.ts';
import type { Emit } from '../../scripting/emit.ts';

/** What scripts see of a device. */
export type ScriptDevice = Pick<
  UplinkDevice,
  'id' | 'deviceId' | 'name' | 'description' | 'customFields' | 'tags'
>;

/** The `device` member of a script's event. */
export function deviceEvent(device: ScriptDevice): JsonObject {
  const { id, deviceId, name, description, customFields, tags } = device;
  return { id, deviceId, name, description, customFields, tags };
}

/** The note of an ERROR entry: its message, and the place in the source as details. */
export function errorNote(event: Json, source: NoteSource): Note {
  const { message, ...place } = event as JsonObject;
  const note: Note = { level: 'ERROR', source, message: String(message) };
  if (Object.keys(place).length === 0) return note;
  return { ...note, details: place };
}

/** The warnings on numbers that JSON does not hold as they are (contract 16, 42). */
export function conversionNotes({ type, nonFinite, exact }: Emit): Note[] {
  const notes: Note[] = [];
  const what = type.toLowerCase();
  if (nonFinite !== undefined) {
    const message = `NaN and infinite numbers in the ${what} were replaced with null: ${nonFinite.join(', ')}`;
    notes.push({ level: 'WARN', source: 'SCRIPT', message, details: { paths: nonFinite } });
  }
  if (exact !== undefined) notes.push({ ...noteOfExact(exact), source: 'SCRIPT' });
  return notes;
}

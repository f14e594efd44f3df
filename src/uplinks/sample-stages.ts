// Sample stages: what samples go through on their way to the disk, however they arrived.
import type { Note } from '../model/entry-trace.ts';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry, DurableRows, JournalEntry } from '../model/journal-entry.ts';
import type { Sample } from '../model/sample.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { CalculatedKeys } from './calculated-keys.ts';
import type { Followers } from './followers/followers.ts';
import type { DeviceNames } from './validate/device-names.ts';
import { type Validated, validateSample, withTimeNote } from './validate/sample-validation.ts';

/** Of devices of this node. */
export class SampleStages {
  /** Cuts down what is new beyond the limits of the device. */
  readonly admit: DeviceNames['admit'];
  /** Adds the calculated keys of the device type. */
  readonly calculate: CalculatedKeys['calculate'];
  readonly newId: () => string;
  readonly now: () => EpochMs;
  readonly #calculated: CalculatedKeys;
  readonly #store: Pick<Samples, 'append' | 'appendColumns'>;
  readonly #followers: Pick<Followers, 'announce' | 'announceRows'>;
  readonly #noted: (note: Note) => void;

  constructor(
    names: Pick<DeviceNames, 'admit'>,
    calculated: CalculatedKeys,
    store: Pick<Samples, 'append' | 'appendColumns'>,
    followers: Pick<Followers, 'announce' | 'announceRows'>,
    /** Counts the notes of durable entries. */
    noted: (note: Note) => void,
    newId: () => string,
    now: () => EpochMs,
  ) {
    this.admit = names.admit;
    this.calculate = calculated.calculate;
    this.#calculated = calculated;
    this.#store = store;
    this.#followers = followers;
    this.#noted = noted;
    this.newId = newId;
    this.now = now;
  }

  /** A sample whose time cannot be right is dated at the time of receipt, if there is one. */
  validate(sample: Sample, receivedAt?: EpochMs): Validated {
    return withTimeNote(validateSample(sample), this.now(), receivedAt);
  }

  /** Makes the entry durable; see `Samples.append`. */
  append(entry: JournalEntry): Promise<DurableEntry> {
    return this.#calculated.stored(entry, this.#store.append(entry));
  }

  /** See `Samples.appendColumns`: nothing is stored when columns do not take the data. */
  appendColumns(entries: Parameters<Samples['appendColumns']>[0]) {
    return this.#store.appendColumns(entries);
  }

  /** Tells the followers of the journal. Call once for every entry that became durable. */
  announce(entry: DurableEntry): void {
    for (const note of entry.notes) this.#noted(note);
    this.#followers.announce(entry);
  }

  announceRows(rows: DurableRows): void {
    this.#followers.announceRows(rows);
  }

  /** Appends and announces an entry of a device that no other node can own. */
  async store(entry: JournalEntry): Promise<DurableEntry> {
    const durable = await this.append(entry);
    this.announce(durable);
    return durable;
  }

  /** The entry of samples that no device sent, with their calculated keys. */
  async withCalculatedKeys(entry: JournalEntry): Promise<JournalEntry> {
    const { deviceId, receivedAt, samples } = entry;
    if (samples.length === 0) return entry;
    const given = samples.map((sample): Validated => ({ sample, notes: [], metrics: {} }));
    const made = await this.calculate(deviceId, given);
    const notes = made.flatMap((one, i) =>
      one.notes.map((note) => ({
        id: this.newId(),
        deviceId,
        timestamp: receivedAt,
        ...note,
        correlationId: samples[i]?.correlationId ?? '',
      })),
    );
    return {
      ...entry,
      samples: samples.map((sample, i) => ({
        ...sample,
        data: made[i]?.sample.data ?? sample.data,
      })),
      notes: [...entry.notes, ...notes],
    };
  }
}

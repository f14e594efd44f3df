// Device reads: devices that are asked for in the same turn are read from the records together.
import { problem } from '../../model/problem.ts';
import type { Records } from '../../records/records.ts';
import {
  devicesByDeviceIds,
  devicesByIds,
  devicesPerBatch,
  type DeviceWithLabels,
  type FoundDevice,
} from '../../records/rows/device-batches.ts';
import type { RecordChanges } from '../../structures/record-changes.ts';

/** A device that was read, and the revision before the read. */
export interface DeviceRead {
  readonly labeled: DeviceWithLabels;
  readonly revision: number;
}

/** Both reject with Problem 404 for an unknown device. */
export interface DeviceReads {
  byId(id: string): Promise<DeviceRead>;
  byDeviceId(organizationId: string, deviceId: string): Promise<DeviceRead>;
  /** To be called for each new device: reads in progress may miss it. */
  deviceCreated(): void;
}

interface Wanted {
  readonly name: string;
  readonly resolve: (read: DeviceRead) => void;
  readonly reject: (error: unknown) => void;
}

/** Devices that one statement can find: those of one organization, or all by service id. */
interface Batch {
  readonly find: (names: readonly string[]) => Promise<FoundDevice[]>;
  readonly nameOf: (found: FoundDevice) => string;
  readonly wanted: Wanted[];
}

export function createDeviceReads(records: Records, changes: RecordChanges): DeviceReads {
  let batches = new Map<string, Batch>();
  const reading = new Map<
    string,
    { readonly revision: number; readonly read: Promise<DeviceRead> }
  >();

  function add(key: string, newBatch: Omit<Batch, 'wanted'>, name: string): Promise<DeviceRead> {
    const { revision } = changes;
    const id = `${key} ${name}`;
    // A read that began before the last change may be outdated.
    const before = reading.get(id);
    if (before?.revision === revision) return before.read;
    if (batches.size === 0) setImmediate(() => void readAll());
    const batch = batches.get(key) ?? { ...newBatch, wanted: [] };
    batches.set(key, batch);
    const read = new Promise<DeviceRead>((resolve, reject) => {
      batch.wanted.push({ name, resolve, reject });
    });
    const started = { revision, read };
    reading.set(id, started);
    const end = (): void => {
      if (reading.get(id) === started) reading.delete(id);
    };
    read.then(end, end);
    return read;
  }

  /** One batch after the other, so that each turn of the event loop stays short. */
  async function readAll(): Promise<void> {
    const taken = batches;
    batches = new Map();
    for (const batch of taken.values())
      for (let from = 0; from < batch.wanted.length; from += devicesPerBatch)
        await readSome(batch, batch.wanted.slice(from, from + devicesPerBatch));
  }

  async function readSome({ find, nameOf }: Batch, wanted: readonly Wanted[]): Promise<void> {
    const { revision } = changes;
    let found: Map<string, FoundDevice>;
    try {
      const devices = await find([...new Set(wanted.map(({ name }) => name))]);
      found = new Map(devices.map((device) => [nameOf(device), device]));
    } catch (error) {
      for (const { reject } of wanted) reject(error);
      return;
    }
    for (const { name, resolve, reject } of wanted) {
      try {
        const labeled = found.get(name)?.read();
        if (labeled === undefined) throw problem('notFound', { what: 'device', id: name });
        resolve({ labeled, revision });
      } catch (error) {
        reject(error);
      }
    }
  }

  const byIds = {
    find: (ids: readonly string[]) => devicesByIds(records, ids),
    nameOf: ({ id }: FoundDevice) => id,
  };
  return {
    byId: (id) => add('', byIds, id),
    deviceCreated: () => reading.clear(),
    byDeviceId: (organizationId, deviceId) =>
      add(
        organizationId,
        {
          find: (deviceIds) => devicesByDeviceIds(records, organizationId, deviceIds),
          nameOf: (found) => found.deviceId,
        },
        deviceId,
      ),
  };
}

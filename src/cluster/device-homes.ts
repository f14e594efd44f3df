// Device homes: the workspace of each device, whose holder owns the device. In memory until the device changes.
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';
import { RecordChanges } from '../structures/cache-by-part.ts';
import { createTurnBatches } from '../structures/turn-batches.ts';

const homesLimits = {
  /** Devices in memory, at about 100 bytes. */
  devicesMax: 500_000,
  workspacesMax: 50_000,
  devicesPerRead: 500,
} as const;

export interface DeviceHome {
  readonly workspaceId: string;
  /** In which epoch it came from another workspace; 0 for never. */
  readonly epoch: number;
}

/** Reads homes from the records; those of unknown devices are absent. */
export type ReadHomes = (deviceIds: readonly string[]) => Promise<ReadonlyMap<string, DeviceHome>>;

export class DeviceHomes implements ChangeFollower {
  readonly #known = createBoundedMap<string, DeviceHome>(homesLimits.devicesMax);
  /** One object for all devices that never moved. */
  readonly #common = createBoundedMap<string, DeviceHome>(homesLimits.workspacesMax);
  readonly #changes = new RecordChanges();
  readonly #read: (deviceId: string) => Promise<DeviceHome | undefined>;

  constructor(read: ReadHomes) {
    this.#read = createTurnBatches((ids) => this.#readAll(ids, read), homesLimits.devicesPerRead);
  }

  /** The home in memory; undefined when the records must be read. */
  readonly cached = (deviceId: string): DeviceHome | undefined => this.#known.get(deviceId);

  /** Undefined for an unknown device. */
  readonly of = (deviceId: string): DeviceHome | undefined | Promise<DeviceHome | undefined> =>
    this.#known.get(deviceId) ?? this.#read(deviceId);

  /** Of many devices; unknown ones are absent. */
  readonly ofAll = async (
    deviceIds: Iterable<string>,
  ): Promise<ReadonlyMap<string, DeviceHome>> => {
    const found = new Map<string, DeviceHome>();
    const reads: Promise<void>[] = [];
    for (const id of deviceIds) {
      const known = this.#known.get(id);
      if (known !== undefined) found.set(id, known);
      else reads.push(this.#read(id).then((home) => void (home && found.set(id, home))));
    }
    await Promise.all(reads);
    return found;
  };

  readonly recordChanged = ({ kind, id, action }: RecordChange): void => {
    if (kind !== 'device' || action === 'created') return;
    this.#changes.add(id);
    this.#known.delete(id);
  };

  readonly changesMissed = (): void => {
    this.#changes.addAll();
    this.#known.clear();
  };

  async #readAll(
    deviceIds: readonly string[],
    read: ReadHomes,
  ): Promise<ReadonlyMap<string, DeviceHome>> {
    const { revision } = this.#changes;
    const found = await read(deviceIds);
    // A device that changed during the read is used once.
    for (const [id, home] of found)
      if (!this.#changes.hasChanged(id, revision)) this.#known.set(id, this.#shared(home));
    return found;
  }

  #shared(home: DeviceHome): DeviceHome {
    if (home.epoch > 0) return home;
    const known = this.#common.get(home.workspaceId);
    if (known !== undefined) return known;
    this.#common.set(home.workspaceId, home);
    return home;
  }
}

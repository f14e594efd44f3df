// Device workspaces: the workspace of each device, whose holder owns the device. In memory until the device changes.
import type { ChangeFollower, RecordChange } from '../model/record.ts';
import { createBoundedMap, RecordChanges } from '../structures/caches.ts';
import { createTurnBatches } from '../structures/turns.ts';

const limits = {
  /** Devices in memory, at about 100 bytes. */
  devicesMax: 500_000,
  workspacesMax: 50_000,
  devicesPerRead: 500,
} as const;

export interface DeviceWorkspace {
  readonly workspaceId: string;
  /** In which epoch it came from another workspace; 0 for never. */
  readonly epoch: number;
}

/** Reads from the records; unknown devices are absent. */
type ReadWorkspaces = (
  deviceIds: readonly string[],
) => Promise<ReadonlyMap<string, DeviceWorkspace>>;

export class DeviceWorkspaces implements ChangeFollower {
  readonly #known = createBoundedMap<string, DeviceWorkspace>(limits.devicesMax);
  /** One object for all devices that never moved. */
  readonly #common = createBoundedMap<string, DeviceWorkspace>(limits.workspacesMax);
  readonly #changes = new RecordChanges();
  readonly #read: (deviceId: string) => Promise<DeviceWorkspace | undefined>;

  constructor(read: ReadWorkspaces) {
    this.#read = createTurnBatches((ids) => this.#readAll(ids, read), limits.devicesPerRead);
  }

  /** The workspace in memory; undefined when the records must be read. */
  readonly cached = (deviceId: string): DeviceWorkspace | undefined => this.#known.get(deviceId);

  /** Undefined for an unknown device. */
  readonly of = (
    deviceId: string,
  ): DeviceWorkspace | undefined | Promise<DeviceWorkspace | undefined> =>
    this.#known.get(deviceId) ?? this.#read(deviceId);

  /** Of many devices; unknown ones are absent. */
  readonly ofAll = async (
    deviceIds: Iterable<string>,
  ): Promise<ReadonlyMap<string, DeviceWorkspace>> => {
    const found = new Map<string, DeviceWorkspace>();
    const reads: Promise<void>[] = [];
    for (const id of deviceIds) {
      const known = this.#known.get(id);
      if (known !== undefined) found.set(id, known);
      else
        reads.push(
          this.#read(id).then((workspace) => void (workspace && found.set(id, workspace))),
        );
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
    read: ReadWorkspaces,
  ): Promise<ReadonlyMap<string, DeviceWorkspace>> {
    const { revision } = this.#changes;
    const found = await read(deviceIds);
    // A device that changed during the read is used once.
    for (const [id, workspace] of found)
      if (!this.#changes.hasChanged(id, revision)) this.#known.set(id, this.#shared(workspace));
    return found;
  }

  #shared(workspace: DeviceWorkspace): DeviceWorkspace {
    if (workspace.epoch > 0) return workspace;
    const known = this.#common.get(workspace.workspaceId);
    if (known !== undefined) return known;
    this.#common.set(workspace.workspaceId, workspace);
    return workspace;
  }
}

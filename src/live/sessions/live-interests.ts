// Live interests: the devices and workspaces whose samples sessions of this node want from other nodes.
import type { WorkspaceFanOut } from './workspace-fan-out.ts';

const interestLimits = {
  /** With more devices, other nodes send all that they store. */
  devicesMax: 200_000,
} as const;

/** What another node is to send: all of it first, later what is added and removed. */
export interface InterestChange {
  readonly workspaces?: readonly string[];
  readonly devices?: readonly string[];
  readonly withoutWorkspaces?: readonly string[];
  readonly withoutDevices?: readonly string[];
  /** Whether all entries are wanted, also those without samples. */
  readonly all?: boolean;
}

export class LiveInterests {
  readonly #wanting: WorkspaceFanOut['wanting'];
  readonly #devices = new Map<string, number>();
  readonly #changed = new Set<string>();
  /** As it was taken last. */
  #workspaces: ReadonlySet<string> = new Set();
  #isAll = false;
  #number = 0;

  constructor({ wanting }: WorkspaceFanOut) {
    this.#wanting = wanting;
  }

  /** Counts a device; it is wanted until all have ended. */
  readonly followed = (deviceId: string, isFollowed: boolean): void => {
    const count = (this.#devices.get(deviceId) ?? 0) + (isFollowed ? 1 : -1);
    if (count > 0) this.#devices.set(deviceId, count);
    else this.#devices.delete(deviceId);
    if (count === 0 || (count === 1 && isFollowed)) this.#changed.add(deviceId);
  };

  /** All that is wanted. */
  whole(): InterestChange {
    return {
      devices: [...this.#devices.keys()],
      workspaces: [...this.#workspaces],
      all: this.#isAll,
    };
  }

  /** What has changed since the last call, with a number that grows; undefined without a change. */
  takeChange(): InterestChange | undefined {
    const change = { ...this.#takeDevices(), ...this.#takeWorkspaces(), ...this.#takeAll() };
    if (Object.keys(change).length === 0) return undefined;
    this.#number += 1;
    return change;
  }

  /** Of the last change that was taken. */
  get number(): number {
    return this.#number;
  }

  #takeDevices(): InterestChange {
    const ids = [...this.#changed];
    this.#changed.clear();
    const added = ids.filter((id) => this.#devices.has(id));
    const removed = ids.filter((id) => !this.#devices.has(id));
    return {
      ...(added.length > 0 && { devices: added }),
      ...(removed.length > 0 && { withoutDevices: removed }),
    };
  }

  #takeWorkspaces(): InterestChange {
    const present = new Set(this.#wanting('SAMPLE').map(({ workspaceId }) => workspaceId));
    const added = [...present].filter((id) => !this.#workspaces.has(id));
    const removed = [...this.#workspaces].filter((id) => !present.has(id));
    this.#workspaces = present;
    return {
      ...(added.length > 0 && { workspaces: added }),
      ...(removed.length > 0 && { withoutWorkspaces: removed }),
    };
  }

  #takeAll(): InterestChange {
    const wasAll = this.#isAll;
    this.#isAll = this.#devices.size > interestLimits.devicesMax;
    return this.#isAll === wasAll ? {} : { all: this.#isAll };
  }
}

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

export interface LiveInterests {
  /** Counts a device; it is wanted until all have ended. */
  followed(deviceId: string, isFollowed: boolean): void;
  /** All that is wanted. */
  whole(): InterestChange;
  /** What has changed since the last call, with a number that grows; undefined without a change. */
  takeChange(): InterestChange | undefined;
  /** Of the last change that was taken. */
  readonly number: number;
}

export function createLiveInterests({ wanting }: WorkspaceFanOut): LiveInterests {
  const devices = new Map<string, number>();
  const changed = new Set<string>();
  /** As it was taken last. */
  let workspaces: ReadonlySet<string> = new Set();
  let isAll = false;
  let number = 0;

  function takeDevices(): InterestChange {
    const ids = [...changed];
    changed.clear();
    const added = ids.filter((id) => devices.has(id));
    const removed = ids.filter((id) => !devices.has(id));
    return {
      ...(added.length > 0 && { devices: added }),
      ...(removed.length > 0 && { withoutDevices: removed }),
    };
  }

  function takeWorkspaces(): InterestChange {
    const present = new Set(wanting('SAMPLE').map(({ workspaceId }) => workspaceId));
    const added = [...present].filter((id) => !workspaces.has(id));
    const removed = [...workspaces].filter((id) => !present.has(id));
    workspaces = present;
    return {
      ...(added.length > 0 && { workspaces: added }),
      ...(removed.length > 0 && { withoutWorkspaces: removed }),
    };
  }

  function takeAll(): InterestChange {
    const wasAll = isAll;
    isAll = devices.size > interestLimits.devicesMax;
    return isAll === wasAll ? {} : { all: isAll };
  }

  return {
    followed(deviceId, isFollowed) {
      const count = (devices.get(deviceId) ?? 0) + (isFollowed ? 1 : -1);
      if (count > 0) devices.set(deviceId, count);
      else devices.delete(deviceId);
      if (count === 0 || (count === 1 && isFollowed)) changed.add(deviceId);
    },
    whole: () => ({ devices: [...devices.keys()], workspaces: [...workspaces], all: isAll }),
    takeChange() {
      const change = { ...takeDevices(), ...takeWorkspaces(), ...takeAll() };
      if (Object.keys(change).length === 0) return undefined;
      number += 1;
      return change;
    },
    get number() {
      return number;
    },
  };
}

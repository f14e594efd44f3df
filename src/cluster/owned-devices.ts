// Owned devices: entries are accepted for devices of workspaces that this node holds, and are waited for before these move.
import { isRefused, problem, problemOf, type Refusal } from '../model/problem.ts';
import type { DeviceWorkspaces } from './device-workspaces.ts';

/** A right that can end while work is done. */
interface Held {
  isValid(): boolean;
  /** The right moves when the work has ended, or after a limit. */
  during<T>(work: Promise<T>): Promise<T>;
}

/** The right to the devices of a workspace; undefined when this node does not have it. */
export type HeldFor = (workspaceId: string) => Held | undefined;

/**
 * Calls a node. Undefined when it cannot be reached and has received nothing. Throws when it may
 * have received the call, and its answer is lost.
 */
export type CallOwner = (name: string, request: unknown) => Promise<unknown>;

/**
 * Asks the holders of workspaces, those of one node together. `ask` returns the items of workspaces
 * that the node does not hold; they are asked of the next holder. Returns those that are of this node.
 * Throws the first Problem when all were asked.
 */
export type AskOwners = <Item extends { readonly workspaceId: string }>(
  items: readonly Item[],
  ask: (items: readonly Item[], call: CallOwner) => Promise<readonly Item[]>,
) => Promise<readonly Item[]>;

/** What of a device is done by its owner: `workspaceId` is that of the device. */
export interface OwnedRequest<Request> {
  readonly workspaceId: string;
  readonly request: Request;
}

/**
 * Has the owner of a device of the workspace answer, or this node when that is the owner. The owner
 * answers `ask` with an outcome or a refusal; undefined when it was not reached. Throws the owner's
 * Problem, or `deviceWithoutOwner`.
 */
export async function atOwner<Outcome extends object>(
  askOwners: AskOwners,
  workspaceId: string,
  ask: (call: CallOwner) => Promise<unknown>,
  here: () => Promise<Outcome>,
): Promise<Outcome> {
  let outcome: Outcome | undefined;
  const own = await askOwners([{ workspaceId }], async (items, call) => {
    const given = await ask(call);
    if (given === undefined) return items;
    const answer = given as Outcome | Refusal;
    if (!isRefused(answer)) outcome = answer;
    else if (answer.problem === 'deviceMoved') return items;
    else throw problemOf(answer);
    return [];
  });
  if (own.length > 0) return here();
  return outcome ?? Promise.reject(problem('deviceWithoutOwner'));
}

export interface DeviceOwnership {
  readonly heldFor: HeldFor;
  readonly deviceWorkspaces: DeviceWorkspaces;
  /** See `EpochsOfDevices`. */
  readonly epochsOf: EpochsOfDevices;
  readonly askOwners: AskOwners;
}

/**
 * The epoch in which this node has each device, or had it last; 0 for never. A device is given with
 * the workspace that its newest entry names, if that names one.
 */
export type EpochsOfDevices = (
  devices: ReadonlyMap<string, string | undefined>,
) => Promise<(deviceId: string) => number>;

/**
 * A device that came from another workspace has the epoch of that move until its new workspace gets
 * a later one: what its former owner still writes is older.
 */
export function epochsOfDevices(
  deviceWorkspaces: DeviceWorkspaces,
  epochOf: (workspaceId: string) => number,
): EpochsOfDevices {
  return async (devices) => {
    const found = await deviceWorkspaces.ofAll(devices.keys());
    return (deviceId) => {
      const workspace = found.get(deviceId);
      const workspaceId = devices.get(deviceId) ?? workspace?.workspaceId;
      if (workspaceId === undefined) return 0;
      const epoch = epochOf(workspaceId);
      const isThere = epoch > 0 && workspaceId === workspace?.workspaceId;
      return isThere ? Math.max(epoch, workspace.epoch) : epoch;
    };
  };
}

/**
 * Does the work while the workspace is held. Throws `deviceMoved` when nothing was done, and
 * `deviceMovedMeanwhile` when the right ended during the work.
 */
export async function withDeviceLease<T>(
  heldFor: HeldFor,
  workspaceId: string,
  work: () => Promise<T>,
): Promise<T> {
  const held = heldFor(workspaceId);
  if (held === undefined) throw problem('deviceMoved');
  const done = await held.during(work());
  // What another node may know nothing of must not be acknowledged, and not be done there again.
  if (!held.isValid()) throw problem('deviceMovedMeanwhile');
  return done;
}

// Owned work: what a node still does for devices that it owns, and is waited for before they move.

export class OwnedWork {
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #during = async <T>(work: Promise<T>): Promise<T> => {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  };

  /** The right with the work under it. */
  heldBy(right: { isValid(): boolean }): Held {
    return { isValid: () => right.isValid(), during: this.#during };
  }

  /** Resolves when the work that has begun so far has ended. */
  ended(): Promise<unknown> {
    return Promise.allSettled(this.#underWay);
  }
}

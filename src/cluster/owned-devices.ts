// Owned devices: entries are accepted for devices that this node owns, and are waited for before these move.
import { isRefused, problem, problemOf, type Refusal } from '../model/problem.ts';

/** A right that can end while work is done. */
interface Held {
  isValid(): boolean;
  /** The right moves when the work has ended, or after a limit. */
  during<T>(work: Promise<T>): Promise<T>;
}

/** The right to a device; undefined when this node does not have it. */
export type HeldFor = (deviceId: string) => Held | undefined;

/**
 * Calls a node. Undefined when it cannot be reached and has received nothing. Throws when it may
 * have received the call, and its answer is lost.
 */
export type CallOwner = (name: string, request: unknown) => Promise<unknown>;

/**
 * Asks the owners of devices, those of one node together. `ask` returns the items of devices that
 * the node does not hold; they are asked of the next owner. Returns those that are of this node.
 * Throws the first Problem when all were asked.
 */
export type AskOwners = <Item extends { readonly deviceId: string }>(
  items: readonly Item[],
  ask: (items: readonly Item[], call: CallOwner) => Promise<readonly Item[]>,
) => Promise<readonly Item[]>;

/**
 * Has the owner of the device answer, or this node when that is the owner. The owner answers `ask` with
 * an outcome or a refusal; undefined when it was not reached. Throws the owner's Problem, or `deviceWithoutOwner`.
 */
export async function atOwner<Outcome extends object>(
  askOwners: AskOwners,
  deviceId: string,
  ask: (call: CallOwner) => Promise<unknown>,
  here: () => Promise<Outcome>,
): Promise<Outcome> {
  let outcome: Outcome | undefined;
  const own = await askOwners([{ deviceId }], async (items, call) => {
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
  /** The epoch in which this node has the device, or had it last; 0 for never. */
  readonly epochOf: (deviceId: string) => number;
  readonly askOwners: AskOwners;
}

/**
 * Does the work while the device is owned. Throws `deviceMoved` when nothing was done, and
 * `deviceMovedMeanwhile` when the right ended during the work.
 */
export async function withDeviceLease<T>(
  heldFor: HeldFor,
  deviceId: string,
  work: () => Promise<T>,
): Promise<T> {
  const held = heldFor(deviceId);
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
  heldBy(right: Pick<Held, 'isValid'>): Held {
    return { isValid: () => right.isValid(), during: this.#during };
  }

  /** Resolves when the work that has begun so far has ended. */
  ended(): Promise<unknown> {
    return Promise.allSettled(this.#underWay);
  }
}

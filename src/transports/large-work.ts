// Large work: an organization has few large requests in progress at once; its others wait in line.
import { problem } from '../model/problem.ts';

export const largeWorkLimits = {
  /** Bodies of more bytes are large. */
  bytesMin: 64 * 1024,
  /** Of one organization: more would not be faster, and hold memory and the garbage collector. */
  runningMax: 1,
  /** One is synced while the next is made. */
  groupsMax: 2,
  /** Compressed bodies that wait to be inflated, of all organizations. */
  compressedBytesMax: 128 * 1024 * 1024,
  /** Requests of assistants, which wait for other requests. */
  assistantsMax: 2,
  waitingMax: 100,
  /** Senders give up after a minute; a refused request is known to be not stored. */
  waitMsMax: 30_000,
} as const;

interface Waiting {
  readonly begin: () => void;
}

interface Owner {
  running: number;
  /** In the order of arrival. */
  readonly waiting: Set<Waiting>;
}

export class LargeWork {
  readonly #runningMax: number;
  readonly #owners = new Map<string, Owner>();

  constructor(runningMax: number) {
    this.#runningMax = runningMax;
  }

  /** Requests in progress and waiting of all organizations. */
  get size(): number {
    let size = 0;
    for (const { running, waiting } of this.#owners.values()) size += running + waiting.size;
    return size;
  }

  /**
   * Does the work when fewer of the organization are in progress. Rejects with Problem `intakeFull`,
   * and nothing was done, when too many wait or the wait is too long.
   */
  async run<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
    const end = await this.begin(organizationId);
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** As `run`, for work that ends elsewhere: resolves with a function that must be called once. */
  async begin(organizationId: string): Promise<() => void> {
    const owner = this.#owners.get(organizationId) ?? { running: 0, waiting: new Set<Waiting>() };
    this.#owners.set(organizationId, owner);
    if (owner.running < this.#runningMax) owner.running++;
    else await inLine(owner);
    return () => this.#end(organizationId, owner);
  }

  /** The place of the ended one is passed on, so that nobody else takes it meanwhile. */
  #end(organizationId: string, owner: Owner): void {
    const [next] = owner.waiting;
    if (next !== undefined) {
      owner.waiting.delete(next);
      next.begin();
      return;
    }
    owner.running--;
    if (owner.running === 0) this.#owners.delete(organizationId);
  }
}

function inLine({ waiting }: Owner): Promise<void> {
  if (waiting.size >= largeWorkLimits.waitingMax) throw problem('intakeFull');
  return new Promise((resolve, reject) => {
    const giveUp = setTimeout(() => {
      waiting.delete(one);
      reject(problem('intakeFull'));
    }, largeWorkLimits.waitMsMax).unref();
    const one: Waiting = {
      begin() {
        clearTimeout(giveUp);
        resolve();
      },
    };
    waiting.add(one);
  });
}

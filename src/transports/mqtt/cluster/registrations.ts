// Registrations: what this node has registered with the owners of its partitions, and again after each move.
import { type NodeAddress, type NodeMessages, partitionOf } from '../../../model/node-messages.ts';

const registeredTogetherMax = 5_000;

interface RegistrationsParts {
  readonly messages: Pick<NodeMessages, 'node' | 'place'>;
  /** Changes when the node has lost what was registered with it. */
  readonly memoryOf: (nodeId: string) => string | undefined;
  /** Registers ids of one partition with its owner. */
  readonly register: (ids: readonly string[]) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

interface Partition {
  readonly ids: Set<string>;
  /** The owner that knows the ids, and its memory. */
  knownTo: string | undefined;
  isUnderWay: boolean;
}

const thisNode = 'this node';

export class Registrations {
  readonly #parts: RegistrationsParts;
  readonly #partitions = new Map<number, Partition>();
  #size = 0;

  constructor(parts: RegistrationsParts) {
    this.#parts = parts;
  }

  /** The caller registers it with its owner. */
  add(id: string): void {
    const number = partitionOf(id);
    const partition = this.#partitions.get(number) ?? newPartition(this.#placeOf(number));
    this.#partitions.set(number, partition);
    this.#size += Number(!partition.ids.has(id));
    partition.ids.add(id);
  }

  remove(id: string): void {
    const number = partitionOf(id);
    const partition = this.#partitions.get(number);
    if (partition?.ids.delete(id) !== true) return;
    this.#size--;
    if (partition.ids.size === 0) this.#partitions.delete(number);
  }

  has(id: string): boolean {
    return this.#partitions.get(partitionOf(id))?.ids.has(id) ?? false;
  }

  get size(): number {
    return this.#size;
  }

  /** Nodes that own some of the ids. */
  owners(): Iterable<NodeAddress> {
    const owners = new Map<string, NodeAddress>();
    for (const number of this.#partitions.keys()) {
      const node = this.#parts.messages.place(number)?.node;
      if (node !== undefined && node.id !== this.#parts.messages.node.id) owners.set(node.id, node);
    }
    return owners.values();
  }

  /** Registers partitions again whose owner is another one now, or knows of nothing any longer. */
  async renew(): Promise<void> {
    const work: Promise<void>[] = [];
    for (const [number, partition] of this.#partitions) {
      const place = this.#placeOf(number);
      if (place === undefined || place === partition.knownTo || partition.isUnderWay) continue;
      if (place === thisNode) partition.knownTo = place;
      else work.push(registerAgain(partition, place, this.#parts));
    }
    await Promise.all(work);
  }

  #placeOf(number: number): string | undefined {
    const place = this.#parts.messages.place(number);
    if (place === undefined) return undefined;
    const { node, epoch } = place;
    if (node.id === this.#parts.messages.node.id) return thisNode;
    return `${node.id} ${epoch} ${this.#parts.memoryOf(node.id) ?? ''}`;
  }
}

function newPartition(knownTo: string | undefined): Partition {
  return { ids: new Set(), knownTo, isUnderWay: false };
}

async function registerAgain(
  partition: Partition,
  place: string,
  { register, failed }: RegistrationsParts,
): Promise<void> {
  partition.isUnderWay = true;
  try {
    const ids = [...partition.ids];
    for (let from = 0; from < ids.length; from += registeredTogetherMax)
      await register(ids.slice(from, from + registeredTogetherMax));
    partition.knownTo = place;
  } catch (error) {
    // The next turn tries again.
    failed(error);
  } finally {
    partition.isUnderWay = false;
  }
}

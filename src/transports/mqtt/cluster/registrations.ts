// Registrations: what this node has registered with the owners of its partitions, and again after each move.
import { type NodeAddress, type NodeMessages, partitionOf } from '../../../model/node-messages.ts';

const registeredTogetherMax = 5_000;

export interface Registrations {
  /** The caller registers it with its owner. */
  add(id: string): void;
  remove(id: string): void;
  has(id: string): boolean;
  readonly size: number;
  /** Nodes that own some of the ids. */
  owners(): Iterable<NodeAddress>;
  /** Registers partitions again whose owner is another one now, or knows of nothing any longer. */
  renew(): Promise<void>;
}

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

export function createRegistrations(parts: RegistrationsParts): Registrations {
  const { messages, memoryOf } = parts;
  const partitions = new Map<number, Partition>();
  let size = 0;

  function placeOf(number: number): string | undefined {
    const place = messages.place(number);
    if (place === undefined) return undefined;
    const { node, epoch } = place;
    if (node.id === messages.node.id) return thisNode;
    return `${node.id} ${epoch} ${memoryOf(node.id) ?? ''}`;
  }

  return {
    add(id) {
      const number = partitionOf(id);
      const partition = partitions.get(number) ?? newPartition(placeOf(number));
      partitions.set(number, partition);
      size += Number(!partition.ids.has(id));
      partition.ids.add(id);
    },
    remove(id) {
      const number = partitionOf(id);
      const partition = partitions.get(number);
      if (partition?.ids.delete(id) !== true) return;
      size--;
      if (partition.ids.size === 0) partitions.delete(number);
    },
    has: (id) => partitions.get(partitionOf(id))?.ids.has(id) ?? false,
    get size() {
      return size;
    },
    owners() {
      const owners = new Map<string, NodeAddress>();
      for (const number of partitions.keys()) {
        const node = messages.place(number)?.node;
        if (node !== undefined && node.id !== messages.node.id) owners.set(node.id, node);
      }
      return owners.values();
    },
    async renew() {
      const work: Promise<void>[] = [];
      for (const [number, partition] of partitions) {
        const place = placeOf(number);
        if (place === undefined || place === partition.knownTo || partition.isUnderWay) continue;
        if (place === thisNode) partition.knownTo = place;
        else work.push(registerAgain(partition, place, parts));
      }
      await Promise.all(work);
    },
  };
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

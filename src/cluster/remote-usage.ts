// Usage elsewhere: how many samples the journals of other nodes have, by workspace.
import type { Json } from '../model/json.ts';
import type { NodeAddress } from '../model/node-address.ts';
import type { UsageOfJournal } from '../storage/samples/remote-pending-samples.ts';
import { nodeUnreachable } from './open-samples-call.ts';

/** The call between nodes. */
export const usageCall = 'samplesUsage';

type CallNode = (to: NodeAddress, name: string, request: Json) => Promise<Json | undefined>;

/** Asks all nodes in parallel. Throws `nodeUnreachable` when one does not answer. */
export function createUsageElsewhere(
  nodes: () => readonly NodeAddress[],
  call: CallNode,
): () => Promise<readonly UsageOfJournal[]> {
  return () =>
    Promise.all(
      nodes().map(async (node) => {
        const answer = await call(node, usageCall, null);
        if (answer === undefined) throw nodeUnreachable(node);
        return answer as unknown as UsageOfJournal;
      }),
    );
}

/** Answers the call of another node. */
export function usageReceiver(usageHere: () => Promise<UsageOfJournal>) {
  return async (): Promise<Json> => (await usageHere()) as unknown as Json;
}

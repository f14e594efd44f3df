// Neighbour: a device with a decoder in another organization, and how much of the main thread others take from it.
import { everyPermission } from '../../src/model/principal.ts';
import { besidesPlatform, makeKey, makeOrganization } from './restricted-keys.ts';
import type { World } from './world.ts';
import { processorMs } from '../../src/structures/testing-processor-time.ts';

export interface Neighbour {
  readonly secret: string;
  readonly deviceId: string;
  /** Sends a payload; resolves with the status. */
  capture(): Promise<number>;
}

const script =
  'function consume(event) { emit("sample", { data: { double: event.data.value * 2 } }); }';

/** Call it before anything else happens in the world. */
export async function makeNeighbour(world: World): Promise<Neighbour> {
  const { place, key } = await besidesPlatform(world, async (records) => {
    const made = await makeOrganization(records);
    const { organizationId } = made;
    const wanted = { organizationId, permissions: everyPermission };
    return { place: made, key: await makeKey(records, world, wanted) };
  });
  const make = async (path: string, body: object) => {
    const answer = await fetch(world.base + path, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'neighbour', ...place, connectivity: 'HTTP', ...body }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { readonly id: string; readonly uplinkSecret: string };
  };
  const connector = await make('/v3/device-connectors', {});
  const type = await make('/v3/device-types', {
    type: 'manual',
    meta: {},
    uplinkScript: { code: script },
  });
  const flow = await make('/v3/data-flows', {
    deviceConnector: { id: connector.id },
    deviceType: { id: type.id },
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });
  await make('/v3/devices', { deviceId: 'neighbour', dataFlowId: flow.id });
  const path = `/v3/capture?secret=${connector.uplinkSecret}&deviceId=neighbour`;
  return {
    secret: connector.uplinkSecret,
    deviceId: 'neighbour',
    async capture() {
      const answer = await fetch(world.base + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"value":1}',
      });
      await answer.text();
      return answer.status;
    },
  };
}

/**
 * The longest time that the main thread worked without looking for other requests, in milliseconds
 * of processor time, so that a loaded machine does not count.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isDone = false;
  const watching = new Promise<void>((resolve) => {
    let before = processorMs();
    const turn = () => {
      const now = processorMs();
      longest = Math.max(longest, now - before);
      before = now;
      if (isDone) resolve();
      else setTimeout(turn, 0);
    };
    setTimeout(turn, 0);
  });
  try {
    await work();
  } finally {
    isDone = true;
    await watching;
  }
  return longest;
}

/** What the neighbour is answered, one capture after the other, until the work is done. */
export async function beside(
  neighbour: Neighbour,
  work: () => Promise<unknown>,
): Promise<number[]> {
  const answers: number[] = [];
  let isDone = false;
  const done = work().finally(() => {
    isDone = true;
  });
  while (!isDone) answers.push(await neighbour.capture());
  await done;
  return answers;
}

// Events elsewhere: sessions get events of all nodes once and in order, or the count of what is missing.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Carry, createNodeSwitch } from '../../src/cluster/nodes/in-process-nodes.ts';
import {
  createMessageReceiver,
  MessageSender,
  queueOfNode,
} from '../../src/cluster/nodes/messages/messages.ts';
import { EventsElsewhere, outboxLimits } from '../../src/cluster/remote-events.ts';
import { LiveEvents } from '../../src/live/live-events.ts';
import {
  createWorkspaceFanOut,
  type WorkspaceInterest,
} from '../../src/live/sessions/workspace-fan-out.ts';
import type { LiveKind } from '../../src/model/live-kind.ts';
import type { MessageHandler } from '../../src/model/node-messages.ts';
import type { Principal } from '../../src/model/principal.ts';

const principal = { kind: 'API_KEY', id: 'k', organizationId: 'o' } as unknown as Principal;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const setTimer = (task: () => void) => {
  const timer = setImmediate(task);
  return () => clearImmediate(timer);
};

const never = () => () => undefined;

function cluster(ids: readonly string[], carry?: Carry) {
  const net = createNodeSwitch(carry);
  const clock = { now: 0 };
  let tickets = 0;

  function start(id: string) {
    const handlers = new Map<string, MessageHandler>();
    const here = createWorkspaceFanOut(() => 1_000);
    const ticks: (() => void)[] = [];
    const failures: unknown[] = [];
    const sender = new MessageSender({
      call: net.nodesOf(id).call,
      isOwn: () => false,
      owner: () => undefined,
      refresh: async () => undefined,
      now: () => clock.now,
      setTimer,
    });
    const receiver = createMessageReceiver({
      serves: (queue) => queue === queueOfNode(id),
      handlerOf: (kind) => handlers.get(kind),
      newTicket: () => `ticket ${++tickets}`,
      setTimer,
    });
    const serve = () => Promise.reject(new Error('forwards nothing'));
    net.connect(id, { handlers: receiver, holds: () => true, serve });
    const events = new EventsElsewhere({
      run: `run of ${id}`,
      messages: {
        toNode: sender.toNode,
        handle: (kind, handler) => void handlers.set(kind, handler),
      },
      nodes: () => ids.filter((one) => one !== id).map((one) => ({ id: one, url: one })),
      here,
      now: () => 1_000,
      clock: () => clock.now,
      setTimer: never,
      setRepeatingTimer: (task) => (ticks.push(task), () => undefined),
      failed: (error) => void failures.push(error),
    });
    return {
      id,
      here,
      events,
      failures,
      live: new LiveEvents(here, () => events),
      tick: () => ticks.forEach((task) => task()),
      follow: (workspaceId: string, kinds: readonly LiveKind[]) => follow(here, workspaceId, kinds),
    };
  }

  return { clock, nodes: ids.map(start) };
}

/** A session that follows a workspace, with what it gets. */
function follow(
  here: ReturnType<typeof createWorkspaceFanOut>,
  workspaceId: string,
  kinds: readonly LiveKind[],
) {
  const frames: { operation: { n: number } }[] = [];
  const grant = { organizationId: 'o', kinds: new Set(kinds), readable: new Set<never>() };
  const interest: WorkspaceInterest = {
    workspaceId,
    organizationId: 'o',
    pace: undefined,
    omitted: new Map(),
    counted: new Map(),
    reader: {
      outbox: {
        sendSample(frame) {
          const text = frame.toString();
          frames.push(JSON.parse(text.slice(text.indexOf('{"type"'))) as (typeof frames)[number]);
          return true;
        },
      },
      frameFor: (_, frame) => frame,
      hasOwn: () => false,
      withdraw: () => undefined,
    },
    subscriptions: new Map([
      ['', { workspaceId, kinds, perSecond: undefined, grant, grantedTo: principal }],
    ]),
  };
  here.add(interest);
  here.changed(interest);
  return {
    numbers: () => frames.map(({ operation }) => operation.n),
    omitted: () => here.takeOmitted(interest).get('OPERATION') ?? 0,
    end: () => here.remove(interest),
  };
}

async function settle(nodes: ReturnType<typeof cluster>['nodes']): Promise<void> {
  for (let i = 0; i < 30; i++) {
    for (const node of nodes) node.tick();
    await turn();
  }
}

test('a session gets events of other nodes as soon as they know that it follows', async () => {
  const { nodes } = cluster(['a', 'b', 'c']);
  const [a, b, c] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
  b.live.operationMoved('w', { n: 0 });
  expect([b.live.wants('w', 'OPERATION'), b.live.wantsAny('OPERATION')]).toEqual([false, false]);
  const session = a.follow('w', ['OPERATION']);
  await a.events.known();
  expect([b.live.wants('w', 'OPERATION'), b.live.wantsAny('OPERATION')]).toEqual([true, true]);
  expect([b.live.wants('w', 'ALARM'), b.live.wants('x', 'OPERATION')]).toEqual([false, false]);
  for (const [n, node] of [a, b, c, b].entries()) {
    node.live.operationMoved('w', { n });
    node.live.operationMoved('other', { n: 100 });
    await settle(nodes);
  }
  expect(session.numbers()).toEqual([0, 1, 2, 3]);
  session.end();
  await a.events.known();
  expect(b.live.wantsAny('OPERATION')).toBe(false);
});

test('what every node notices by itself is not sent', async () => {
  const { nodes } = cluster(['a', 'b']);
  const [a, b] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  const session = a.follow('w', ['DEVICE_STATE', 'RECORD_CHANGED']);
  await a.events.known();
  const device = { workspaceId: 'w', deviceId: 'd', lastUplinkAt: 0 };
  b.live.deviceWentOffline({ ...device, state: 'OFFLINE', previousState: 'ONLINE' });
  await settle(nodes);
  expect(session.numbers()).toEqual([]);
  expect(b.live.wantsAny('RECORD_CHANGED')).toBe(false);
});

test('a node that is silent for long is evicted, and one that returns learns what is followed', async () => {
  const { nodes, clock } = cluster(['a', 'b']);
  const [a, b] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  a.follow('w', ['OPERATION']);
  await a.events.known();
  clock.now = 35_001;
  b.tick();
  expect(b.live.wantsAny('OPERATION')).toBe(false);
  a.tick();
  await settle(nodes);
  expect(b.live.wantsAny('OPERATION')).toBe(true);
});

test('more than the limits is counted, and the session learns how much', async () => {
  const { nodes } = cluster(['a', 'b']);
  const [a, b] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  const session = a.follow('w', ['OPERATION']);
  await a.events.known();
  const count = outboxLimits.eventsMax + 10;
  for (let n = 0; n < count; n++) b.live.operationMoved('w', { n });
  await settle(nodes);
  expect(session.numbers()).toEqual(Array.from({ length: outboxLimits.eventsMax }, (_, n) => n));
  expect(session.omitted()).toBe(10);
});

test('property: with lost calls, each event comes once and in order, or is counted', async () => {
  const fate = fc.constantFrom('arrives', 'arrives', 'is lost', 'is still in progress');
  const property = fc.asyncProperty(
    fc.array(fate, { maxLength: 40 }),
    fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 30 }),
    async (fates, pauses) => {
      let calls = 0;
      let isFaulty = false;
      const carry: Carry = async (deliver) => {
        const next = isFaulty ? (fates[calls++] ?? 'arrives') : 'arrives';
        if (next === 'is lost') throw new Error(next);
        const answer = await deliver();
        if (next === 'is still in progress') throw new Error(next);
        return answer;
      };
      const { nodes } = cluster(['a', 'b'], carry);
      const [a, b] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
      const session = a.follow('w', ['OPERATION']);
      await a.events.known();
      isFaulty = true;
      for (const [n, pause] of pauses.entries()) {
        b.live.operationMoved('w', { n });
        for (let i = 0; i < pause; i++) await turn();
        if (pause === 3) b.tick();
      }
      await settle(nodes);
      isFaulty = false;
      await settle(nodes);
      const numbers = session.numbers();
      expect(numbers).toEqual([...new Set(numbers)].toSorted((x, y) => x - y));
      // What was not answered may have arrived, and is counted too.
      expect(numbers.length + session.omitted()).toBeGreaterThanOrEqual(pauses.length);
      if (fates.every((one) => one === 'arrives')) expect(numbers).toHaveLength(pauses.length);
      expect(b.live.wantsAny('OPERATION')).toBe(true);
    },
  );
  await fc.assert(property, { numRuns: 200 });
});

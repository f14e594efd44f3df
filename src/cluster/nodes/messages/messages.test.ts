// Messages between nodes: in order, once each, while leases move, nodes leave and calls are lost.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MessageHandler, NodeAddress, NodeMessage } from '../../../model/node-messages.ts';
import { problem } from '../../../model/problem.ts';
import { createNodeSwitch } from '../in-process-nodes.ts';
import { NodeUnreachable } from '../nodes.ts';
import { createMessageReceiver, MessageSender, senderLimits } from './messages.ts';

type Work = (request: number, from: string) => Promise<number>;

interface Network {
  readonly sender: MessageSender;
  /** The holder of each lease; none at first. */
  readonly holders: Map<string, string>;
  /** Numbers as they were handled, by lease. */
  readonly handled: Map<string, number[]>;
  connect(id: string, work?: Work): () => void;
  /** Lets the time of a search pass. */
  pass(ms: number): void;
}

const addressOf = (id: string): NodeAddress => ({ id, url: `http://${id}` });

/** The sender is node `a`. Timers fire in the next turn of the event loop. */
function network(carry?: Parameters<typeof createNodeSwitch>[0]): Network {
  const nodes = createNodeSwitch(carry);
  const holders = new Map<string, string>();
  const handled = new Map<string, number[]>();
  let now = 0;
  let tickets = 0;
  const setTimer = (task: () => void) => {
    const timer = setImmediate(task);
    return () => clearImmediate(timer);
  };
  const note = (lease: string, number: number) => {
    handled.set(lease, [...(handled.get(lease) ?? []), number]);
  };
  return {
    holders,
    handled,
    connect(id, work = async (number) => number) {
      const handle: MessageHandler = (request, from) => {
        const { lease, number } = request as { lease: string; number: number };
        note(lease, number);
        return work(number, from);
      };
      const receiver = createMessageReceiver({
        serves: (queue) => holders.get(queue) === id || queue === `node/${id}`,
        handlerOf: () => handle,
        newTicket: () => `ticket ${++tickets}`,
        setTimer,
      });
      const serve = () => Promise.reject(new Error('forwards nothing'));
      return nodes.connect(id, { handlers: receiver, holds: () => true, serve });
    },
    pass: (ms) => void (now += ms),
    sender: new MessageSender({
      call: nodes.nodesOf('a').call,
      isOwn: (lease) => holders.get(lease) === 'a',
      owner: (lease) => {
        const id = holders.get(lease);
        return id === undefined || id === 'a' ? undefined : addressOf(id);
      },
      refresh: async () => undefined,
      now: () => now,
      setTimer,
    }),
  };
}

function send(
  { sender, handled }: Network,
  lease: string,
  number: number,
  repetition: Pick<NodeMessage, 'again' | 'isReceiverBound'> = {},
) {
  const request = { lease, number };
  return sender.toOwner(lease, {
    kind: 'work',
    request,
    bytes: 10,
    ...repetition,
    own: async () => {
      handled.set(lease, [...(handled.get(lease) ?? []), number]);
      return number;
    },
  });
}

test('each lease keeps its order, and each message is handled once, while leases move', async () => {
  const leases = ['one', 'two', 'three'];
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ send: fc.constantFrom(...leases) }) },
    fc.record({
      move: fc.constantFrom(...leases),
      to: fc.constantFrom('a', 'b', 'c', undefined),
    }),
    fc.constant('turn' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const net = network();
      net.connect('b');
      net.connect('c');
      const sent: Promise<unknown>[] = [];
      const wanted = new Map<string, number[]>();
      for (const [number, one] of steps.entries()) {
        if (one === 'turn') await new Promise(setImmediate);
        else if ('send' in one) {
          wanted.set(one.send, [...(wanted.get(one.send) ?? []), number]);
          sent.push(send(net, one.send, number));
        } else if (one.to === undefined) net.holders.delete(one.move);
        else net.holders.set(one.move, one.to);
      }
      for (const lease of leases) net.holders.set(lease, 'c');
      await Promise.all(sent);
      expect(net.handled).toEqual(wanted);
      expect(net.sender.size).toBe(0);
      for (const lease of leases) expect(net.sender.hasWaiting(lease)).toBe(false);
    }),
    { numRuns: 150 },
  );
});

test('what was perhaps received is sent again only with a request for it', async () => {
  let isLost = true;
  const net = network(async (deliver) => {
    const answer = await deliver();
    if (isLost) throw new NodeUnreachable(addressOf('b'), true, 'lost');
    return answer;
  });
  net.connect('b');
  net.holders.set('one', 'b');
  await expect(send(net, 'one', 1)).rejects.toMatchObject({ problem: 'nodeUnreachable' });
  const again = send(net, 'one', 2, { again: { lease: 'one', number: 2 } });
  await expect.poll(() => net.handled.get('one')).toContain(2);
  isLost = false;
  await expect(again).resolves.toBe(2);
});

describe('what only its receiver recognizes', () => {
  const bound = { again: { lease: 'one', number: 1 }, isReceiverBound: true };

  /** Answers are lost until it is ended. */
  function losing() {
    let isLost = true;
    const net = network(async (deliver) => {
      const answer = await deliver();
      if (isLost) throw new NodeUnreachable(addressOf('b'), true, 'lost');
      return answer;
    });
    net.connect('b');
    net.connect('c');
    net.holders.set('one', 'b');
    return { net, end: () => void (isLost = false) };
  }

  test('is sent to it again', async () => {
    const { net, end } = losing();
    const sent = send(net, 'one', 1, bound);
    await expect.poll(() => net.handled.get('one')).toContain(1);
    end();
    await expect(sent).resolves.toBe(1);
  });

  test.each(['c', 'a'])('fails when node %s owns it by then, and others are served', async (id) => {
    const { net, end } = losing();
    const sent = send(net, 'one', 1, bound);
    sent.catch(() => undefined);
    await expect.poll(() => net.handled.get('one')).toContain(1);
    net.holders.delete('one');
    const later = send(net, 'one', 2);
    end();
    await new Promise(setImmediate);
    expect(net.sender.hasWaiting('one')).toBe(true);
    net.holders.set('one', id);
    await expect(sent).rejects.toMatchObject({ problem: 'nodeUnreachable' });
    await expect(later).resolves.toBe(2);
    expect(net.handled.get('one')?.filter((number) => number === 2)).toEqual([2]);
    expect(net.sender.hasWaiting('one')).toBe(false);
    expect(net.sender.size).toBe(0);
  });
});

test('a message to a node that is not there waits for the next owner', async () => {
  const net = network();
  net.holders.set('one', 'gone');
  const waiting = [send(net, 'one', 1), send(net, 'one', 2)];
  await new Promise(setImmediate);
  expect(net.sender.hasWaiting('one')).toBe(true);
  net.connect('b');
  net.holders.set('one', 'b');
  await expect(Promise.all(waiting)).resolves.toEqual([1, 2]);
});

test('each message is answered while slow ones of its lease end later', async () => {
  const net = network();
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
  };
  net.connect('b', async (number) => {
    await turns((number * 7) % 30);
    return number;
  });
  net.holders.set('one', 'b');
  const sent: Promise<unknown>[] = [];
  for (let number = 0; number < 100; number++) {
    sent.push(send(net, 'one', number));
    await turns(number % 4);
  }
  expect(await Promise.all(sent)).toEqual(sent.map((_, number) => number));
});

test('a slow message does not hold up the others of its batch', async () => {
  const slow = Promise.withResolvers<number>();
  const net = network();
  net.connect('b', (number) => (number === 1 ? slow.promise : Promise.resolve(number)));
  net.holders.set('one', 'b').set('two', 'b');
  const first = send(net, 'one', 1);
  await expect(send(net, 'one', 2)).resolves.toBe(2);
  await expect(send(net, 'two', 3)).resolves.toBe(3);
  slow.resolve(1);
  await expect(first).resolves.toBe(1);
});

describe('a message fails', () => {
  test('with the problem of the owner', async () => {
    const net = network();
    net.connect('b', () => Promise.reject(problem('notFound', { what: 'device', id: '1' })));
    net.holders.set('one', 'b');
    await expect(send(net, 'one', 1)).rejects.toMatchObject({
      problem: 'notFound',
      details: { what: 'device', id: '1' },
    });
  });

  test('when its device moved during the work, which the next owner does not do again', async () => {
    const net = network();
    net.connect('b', () => {
      net.holders.set('one', 'c');
      return Promise.reject(problem('deviceMovedMeanwhile'));
    });
    net.connect('c');
    net.holders.set('one', 'b');
    const failure = { problem: 'deviceMovedMeanwhile' };
    await expect(send(net, 'one', 1)).rejects.toMatchObject(failure);
    expect(net.handled.get('one')).toEqual([1]);
  });

  test('after a time without an owner', async () => {
    const net = network();
    const waiting = send(net, 'one', 1);
    await new Promise(setImmediate);
    net.pass(15_001);
    await expect(waiting).rejects.toMatchObject({ problem: 'deviceWithoutOwner' });
    expect(net.sender.hasWaiting('one')).toBe(false);
  });

  test('beyond the limits, and the others keep their room', async () => {
    const net = network();
    net.connect('b');
    net.holders.set('two', 'b');
    const { ownerlessMax } = senderLimits;
    const waiting = Array.from({ length: ownerlessMax }, (_, number) => send(net, 'one', number));
    await new Promise(setImmediate);
    await expect(send(net, 'one', -1)).rejects.toMatchObject({ problem: 'deviceWithoutOwner' });
    await expect(send(net, 'two', 7)).resolves.toBe(7);
    net.holders.set('one', 'b');
    expect(await Promise.all(waiting)).toHaveLength(ownerlessMax);
  });

  test('when its node does not answer', async () => {
    const net = network();
    const request = { lease: 'node/gone', number: 1 };
    await expect(
      net.sender.toNode(addressOf('gone'), { kind: 'work', request, bytes: 10 }),
    ).rejects.toBeInstanceOf(NodeUnreachable);
  });
});

// Router: who serves a request, what is asked again when a device moves, and when it is refused.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NodeAddress } from '../../model/node-messages.ts';
import {
  type ForwardedAnswer,
  type ForwardedRequest,
  NodeUnreachable,
} from '../../cluster/nodes/nodes.ts';
import { type Problem, problem } from '../../model/problem.ts';
import { ownerSearchLimits } from '../../cluster/nodes/owner-search.ts';
import { createRouter, routerLimits } from './router.ts';

type Outcome = 'notHeld' | 'unreachable' | 'lost' | number;

const nodeOf = (id: string): NodeAddress => ({ id, url: `http://${id}` });

/** What the next forwards end with, and who owns the device after each refresh. */
let outcomes: Outcome[];
let owners: (string | undefined)[];
let isOwn: boolean;
let now: number;
let refusal: Problem | undefined;
let asked: { readonly to: string; readonly request: ForwardedRequest; readonly body: string }[];
let server: ReturnType<typeof createServer>;
let base: string;

async function forward(to: NodeAddress, request: ForwardedRequest) {
  const body = request.body === undefined ? '' : String(await bodyOf(request.body));
  asked.push({ to: to.id, request, body });
  const outcome = outcomes.shift() ?? 200;
  if (outcome === 'notHeld') return outcome;
  if (typeof outcome === 'string') throw new NodeUnreachable(to, outcome === 'lost', 'test');
  const answer: ForwardedAnswer = { status: outcome, headers: {}, body: Buffer.from(to.id) };
  return answer;
}

const bodyOf = async (body: NonNullable<ForwardedRequest['body']>) =>
  body instanceof Uint8Array ? Buffer.from(body) : buffer(body);

beforeEach(async () => {
  [outcomes, owners, asked, isOwn, now, refusal] = [[], ['a'], [], false, 0, undefined];
  server = createServer(
    createRouter({
      findPlace: ({ url = '' }: IncomingMessage) => {
        if (url === '/unknown') return Promise.reject(new Error('unknown sender'));
        return /^\/devices\/(\w+)/.exec(url)?.[1];
      },
      ownershipOf: (place) => ({
        lease: `of ${place}`,
        isOwn: () => isOwn || owners[0] === 'self',
        owner: () => (owners[0] === undefined ? undefined : nodeOf(owners[0])),
      }),
      refresh: async () => {
        if (refusal !== undefined) throw refusal;
        if (owners.length > 1) owners.shift();
      },
      forward,
      captures: { takes: () => false },
      serve: (_, response) => response.end('here'),
      refuse: (_: IncomingMessage, response: ServerResponse, { status, code }) => {
        response.writeHead(status).end(code);
      },
      now: () => now,
      wait: async (ms) => void (now += ms),
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function ask(path = '/devices/d', body?: string): Promise<[number, string]> {
  const request = body === undefined ? {} : { method: 'POST', body };
  const answer = await fetch(`${base}${path}`, request);
  return [answer.status, await answer.text()];
}

test.each(['/', '/unknown'])('%s is served here', async (path) => {
  expect(await ask(path)).toEqual([200, 'here']);
  expect(asked).toEqual([]);
});

test('a request for an own device is served here', async () => {
  isOwn = true;
  expect(await ask()).toEqual([200, 'here']);
});

test('another one goes to the owner, with the address of the client', async () => {
  expect(await ask('/devices/d?x=1', 'body')).toEqual([200, 'a']);
  expect(asked).toMatchObject([{ to: 'a', body: 'body' }]);
  expect(asked[0]?.request).toMatchObject({
    method: 'POST',
    url: '/devices/d?x=1',
    lease: 'of d',
    remoteAddress: '127.0.0.1',
  });
});

test('answers with errors are answers', async () => {
  outcomes = [404];
  expect(await ask()).toEqual([404, 'a']);
});

test.each<[Outcome]>([['notHeld'], ['unreachable']])(
  'after %s, the request with its body goes to the next owner',
  async (outcome) => {
    outcomes = [outcome, outcome];
    owners = ['a', 'a', 'b'];
    expect(await ask('/devices/d', 'body')).toEqual([200, 'b']);
    expect(asked.map(({ to, body }) => [to, body])).toEqual([
      ['a', 'body'],
      ['a', 'body'],
      ['b', 'body'],
    ]);
  },
);

test('a device that becomes an own one meanwhile is served here', async () => {
  owners = [undefined, 'self'];
  expect(await ask()).toEqual([200, 'here']);
  expect(asked).toEqual([]);
});

test('without an owner the answer is 503, after the time in which one takes the device', async () => {
  owners = [undefined];
  expect(await ask()).toEqual([503, '50310_DEVICE_WITHOUT_OWNER']);
  expect(now).toBeGreaterThanOrEqual(ownerSearchLimits.ownerMsMax);
  expect(asked).toEqual([]);
});

test('a request that the owner may have is not sent again', async () => {
  outcomes = ['lost'];
  expect(await ask('/devices/d', 'body')).toEqual([503, '50312_NODE_UNREACHABLE']);
  expect(asked).toHaveLength(1);
});

test('a read whose answer is lost is asked of the next owner', async () => {
  outcomes = ['lost'];
  owners = ['a', 'b'];
  expect(await ask()).toEqual([200, 'b']);
  expect(asked.map(({ to }) => to)).toEqual(['a', 'b']);
});

test('reliability 9: a read at a silent node is refused while that node stays the owner', async () => {
  outcomes = ['lost', 'lost'];
  owners = ['a', 'a'];
  expect(await ask()).toEqual([503, '50312_NODE_UNREACHABLE']);
  expect(asked).toHaveLength(1);
  expect(now).toBe(0);
});

test('reliability 2: nothing waits for an owner while this node is cut off', async () => {
  owners = [undefined];
  refusal = problem('recordsUnreachable');
  expect(await ask()).toEqual([503, '50307_RECORDS_UNREACHABLE']);
  expect(now).toBeLessThanOrEqual(ownerSearchLimits.pollMs);
});

test('a long body is sent while it is read, and to one node only', async () => {
  const long = 'x'.repeat(routerLimits.keptBytesMax + 1);
  expect(await ask('/devices/d', long)).toEqual([200, 'a']);
  expect(asked[0]?.body).toBe(long);
  outcomes = ['notHeld'];
  expect(await ask('/devices/d', long)).toEqual([503, '50311_DEVICE_MOVED']);
  expect(asked).toHaveLength(2);
});

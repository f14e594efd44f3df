// Nodes: what every implementation must do, also when messages are lost or doubled on their way.
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { NodeAddress } from '../../../model/node-messages.ts';
import {
  type CallHandlers,
  type ForwardedAnswer,
  type ForwardedRequest,
  type Nodes,
  NodeUnreachable,
} from '../nodes.ts';

export type Fault = 'requestLost' | 'answerLost' | 'doubled';

/** What a node of a test offers. */
export interface OfferedNode {
  readonly handlers: CallHandlers;
  readonly holds: (lease: string) => boolean;
  readonly serve: (request: ForwardedRequest) => Promise<ForwardedAnswer>;
}

interface NodePair {
  /** Of the node `a`. */
  readonly nodes: Nodes;
  readonly to: NodeAddress;
  /** What happens to the next messages, one after the other. */
  fail(...faults: readonly Fault[]): void;
  disconnect(): Promise<void>;
}

export function describeNodes(open: (offered: OfferedNode) => Promise<NodePair>): void {
  const served: { readonly request: ForwardedRequest; readonly body: Buffer }[] = [];
  const calls: [unknown, string][] = [];
  let answerBody: ForwardedAnswer['body'];

  const handlers: Readonly<Record<string, (request: unknown, from: string) => Promise<unknown>>> = {
    async count(request, from) {
      calls.push([request, from]);
      return calls.length;
    },
    echo: async (request) => request,
    fail: () => Promise.reject(new Error('the handler failed')),
  };

  function pair(): Promise<NodePair> {
    served.length = 0;
    calls.length = 0;
    answerBody = Buffer.from('answer');
    return open({
      handlers: new Map(Object.entries(handlers)),
      holds: (lease) => lease === 'workspaces/1',
      async serve(request) {
        const { body = Buffer.alloc(0) } = request;
        served.push({
          request,
          body: body instanceof Readable ? await buffer(body) : Buffer.from(body),
        });
        const headers = { 'x-answer': 'yes', 'set-cookie': ['a=1', 'b=2'] };
        return { status: 207, headers, body: answerBody };
      },
    });
  }

  function request(change: Partial<ForwardedRequest> = {}): ForwardedRequest {
    return {
      method: 'POST',
      url: '/v3/capture?deviceId=%C3%A4&x=1',
      headers: ['Authorization', 'Bearer secret', 'X-Many', '1', 'X-Many', '2'],
      body: Buffer.from('{"temperature":21}'),
      remoteAddress: '203.0.113.7',
      lease: 'workspaces/1',
      signal: new AbortController().signal,
      ...change,
    };
  }

  async function bodyOf(answer: ForwardedAnswer | 'notHeld'): Promise<Buffer> {
    if (answer === 'notHeld') throw new Error('not held');
    const { body } = answer;
    return body instanceof Readable ? buffer(body) : Buffer.from(body);
  }

  test('a call gets the answer of its handler, which knows the caller', async () => {
    const { nodes, to } = await pair();
    const value = { text: 'ä\u0000', list: [1, null, true] };
    expect(await nodes.call(to, 'echo', value)).toEqual(value);
    expect(await nodes.call(to, 'count', 'first')).toBe(1);
    expect(calls).toEqual([['first', 'a']]);
  });

  test.each([
    ['fail', 'the handler failed'],
    ['unknown', 'Unknown call: unknown'],
  ])('the call %s rejects with: %s', async (name, message) => {
    const { nodes, to } = await pair();
    await expect(nodes.call(to, name, null)).rejects.toThrow(message);
    await expect(nodes.call(to, name, null)).rejects.not.toBeInstanceOf(NodeUnreachable);
  });

  test.each<[Fault]>([['requestLost'], ['answerLost'], ['doubled']])(
    'a call with %s is handled once and answered',
    async (fault) => {
      const { nodes, to, fail } = await pair();
      fail(fault);
      expect(await nodes.call(to, 'count', 'x')).toBe(1);
      expect(calls).toEqual([['x', 'a']]);
      expect(await nodes.call(to, 'count', 'y')).toBe(2);
    },
  );

  test('a call that is lost twice says that the node may have it', async () => {
    const { nodes, to, fail } = await pair();
    fail('answerLost', 'answerLost');
    const error = await nodes.call(to, 'count', 'x').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NodeUnreachable);
    expect(error).toMatchObject({ wasSent: true });
    expect(calls).toHaveLength(1);
  });

  test('a forwarded request arrives as it was, and so does its answer', async () => {
    const { nodes, to } = await pair();
    const answer = await nodes.forward(to, request());
    expect(answer).toMatchObject({ status: 207 });
    expect(answer).toHaveProperty('headers.x-answer', 'yes');
    expect(answer).toHaveProperty('headers.set-cookie', ['a=1', 'b=2']);
    expect(String(await bodyOf(answer))).toBe('answer');
    const [{ request: got, body } = { request: undefined, body: undefined }] = served;
    expect(got).toMatchObject({ method: 'POST', url: '/v3/capture?deviceId=%C3%A4&x=1' });
    expect(got?.remoteAddress).toBe('203.0.113.7');
    const headers = got?.headers ?? [];
    for (const value of ['Bearer secret', '1', '2']) expect(headers).toContain(value);
    expect(String(body)).toBe('{"temperature":21}');
  });

  test('bodies may be long streams in both directions', async () => {
    const { nodes, to } = await pair();
    const long = Buffer.alloc(3_000_000, 'long body ');
    answerBody = Readable.from([long.subarray(0, 1_000_000), long.subarray(1_000_000)]);
    const chunks = [long.subarray(0, 5), long.subarray(5)];
    const answer = await nodes.forward(to, request({ body: Readable.from(chunks) }));
    expect((await bodyOf(answer)).equals(long)).toBe(true);
    expect(served[0]?.body.equals(long)).toBe(true);
  });

  test('an answer begins before its body ends', async () => {
    const { nodes, to } = await pair();
    const source = new Readable({ read: () => undefined });
    source.push('first');
    answerBody = source;
    const answer = await nodes.forward(to, request({ method: 'GET', body: undefined }));
    const stream = answer === 'notHeld' ? undefined : answer.body;
    if (!(stream instanceof Readable)) throw new Error('not a stream');
    const [first] = await once(stream, 'data');
    expect(String(first)).toBe('first');
    source.push(null);
    await once(stream, 'end');
  });

  test('a request for a lease that is not held does nothing', async () => {
    const { nodes, to } = await pair();
    // Longer than what sockets hold, so that it is still being sent when the refusal is.
    const long = Readable.from(Array.from({ length: 200 }, () => Buffer.alloc(100_000)));
    expect(await nodes.forward(to, request({ lease: 'workspaces/2' }))).toBe('notHeld');
    expect(await nodes.forward(to, request({ lease: 'workspaces/2', body: long }))).toBe('notHeld');
    expect(served).toEqual([]);
    expect(await nodes.forward(to, request())).not.toBe('notHeld');
  });

  test('a client cannot send the headers of nodes', async () => {
    const { nodes, to } = await pair();
    const headers = ['Heliograph-Client-Address', '127.0.0.1', 'heliograph-lease', 'workspaces/1'];
    expect(await nodes.forward(to, request({ headers, lease: 'workspaces/2' }))).toBe('notHeld');
    await nodes.forward(to, request({ headers }));
    expect(served[0]?.request.remoteAddress).toBe('203.0.113.7');
    expect(served[0]?.request.headers.map((value) => value.toLowerCase())).not.toContain(
      'heliograph-lease',
    );
  });

  test('a forwarded request is not sent twice', async () => {
    const { nodes, to, fail } = await pair();
    fail('answerLost');
    const error = await nodes.forward(to, request()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NodeUnreachable);
    expect(served).toHaveLength(1);
  });

  test('a node that is gone is unreachable, and nothing was sent', async () => {
    const { nodes, to, disconnect } = await pair();
    await disconnect();
    const error = await nodes.forward(to, request()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NodeUnreachable);
    expect(error).toMatchObject({ wasSent: false });
    await expect(nodes.call(to, 'echo', 1)).rejects.toBeInstanceOf(NodeUnreachable);
  });
}

// HTTP exchange: the same answers, limits and errors in this thread and on another one.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { EgressRefused } from './host-check.ts';
import { EgressGuard } from './guard.ts';
import { createHttpExchange } from './http-exchange.ts';
import { createHttpThread } from './http-thread.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const failures: Error[] = [];
const failed = (error: Error): void => void failures.push(error);
const exchanges = {
  'in this thread': (allow: readonly string[]) => createHttpExchange({ allow }),
  'on another thread': (allow: readonly string[]) => createHttpThread({ allow, failed }),
};

function guardBy(
  open: (typeof exchanges)[keyof typeof exchanges],
  allow: readonly string[] = ['127.0.0.0/8'],
): EgressGuard {
  const guard = new EgressGuard({ allow }, open(allow));
  cleanups.push(() => guard.close());
  return guard;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Answers with the method, the path, one header and the body of the request. */
const echo: RequestListener = (request, response) => {
  void text(request).then((body) => {
    response.writeHead(207, { 'retry-after': '7', location: '/next' });
    response.end([request.method, request.url, request.headers['x-name'], body].join(' '));
  });
};

const post = (url: string) => ({ method: 'POST', url, headers: {}, body: '{}' });
const soon = () => AbortSignal.timeout(5_000);

for (const [where, open] of Object.entries(exchanges)) {
  describe(where, () => {
    test('requests and answers arrive whole, many in one turn', async () => {
      const guard = guardBy(open);
      const url = await serve(echo);
      const bodies = Array.from({ length: 40 }, (_, i) => `"ü😀\u2028${i}"${'x'.repeat(i * 100)}`);
      const answers = await Promise.all(
        bodies.map((body, i) =>
          guard.request(
            { method: 'PUT', url: `${url}a?b=${i}`, headers: { 'X-Name': `n${i}` }, body },
            soon(),
          ),
        ),
      );
      const expected = bodies.map((body, i) => `PUT /a?b=${i} n${i} ${body}`);
      expect(answers.map(({ text }) => text)).toEqual(expected);
      expect(answers[0]).toMatchObject({ status: 207, retryAfter: '7', location: '/next' });
    });

    test('of a long answer 16 KiB are kept, and one without an end does not hold the request', async () => {
      const guard = guardBy(open);
      const url = await serve((_request, response) => {
        response.writeHead(200);
        for (let i = 0; i < 8; i++) response.write('x'.repeat(64 * 1024));
      });
      const { status, text } = await guard.request(post(url), soon());
      expect([status, text.length]).toEqual([200, 16 * 1024]);
      const more = await guard.request({ ...post(url), answerBytesMax: 70_000 }, soon());
      expect(more.text.length).toBe(70_000);
    });

    test('a signal ends a request that waits for its answer, with its own reason', async () => {
      const stop = new AbortController();
      let ended: (() => void) | undefined;
      const isEnded = new Promise<void>((resolve) => (ended = resolve));
      const guard = guardBy(open);
      const url = await serve((incoming) => {
        incoming.socket.once('close', () => ended?.());
        stop.abort(new Error('enough'));
      });
      await expect(guard.request(post(url), stop.signal)).rejects.toThrow('enough');
      await expect(guard.request(post(url), stop.signal)).rejects.toThrow('enough');
      await isEnded;
    });

    test('a connection that ends in the middle of an answer is a failure', async () => {
      const guard = guardBy(open);
      const url = await serve((_request, response) => {
        response.writeHead(200, { 'content-length': '10' }).write('half');
        setImmediate(() => response.destroy());
      });
      await expect(guard.request(post(url), soon())).rejects.toThrow();
    });

    test('a forbidden address is refused, except for a target of the operator', async () => {
      const guard = guardBy(open, []);
      const url = await serve(echo);
      const refusal = await guard.request(post(url), soon()).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(EgressRefused);
      expect(refusal).toMatchObject({ host: '127.0.0.1', reason: 'loopback' });
      const { status } = await guard.request({ ...post(url), isOperators: true }, soon());
      expect(status).toBe(207);
    });

    test('errors keep their message and code', async () => {
      const guard = guardBy(open);
      const url = await serve(echo);
      const errorOf = (call: Parameters<EgressGuard['request']>[0]) =>
        guard.request(call, soon()).catch((error: unknown) => error);
      const invalid = { code: 'UND_ERR_INVALID_ARG' };
      expect(await errorOf(post('ftp://127.0.0.1/'))).toMatchObject({
        ...invalid,
        message: 'the URL must start with http: or https:',
      });
      expect(await errorOf({ ...post(url), headers: { 'a b': '' } })).toMatchObject(invalid);
      expect(await errorOf(post('no URL'))).toMatchObject({ message: 'Invalid URL' });
      expect(await errorOf(post('http://127.0.0.1:1/'))).toMatchObject({ code: 'ECONNREFUSED' });
    });

    test('closing ends the requests in progress', async () => {
      const guard = guardBy(open);
      const { promise: arrived, resolve } = Promise.withResolvers<void>();
      const url = await serve(() => resolve());
      const answer = guard.request(post(url), soon()).catch((error: unknown) => error);
      await arrived;
      await guard.close();
      expect(await answer).toBeInstanceOf(Error);
    });
  });
}

test('when the thread ends, its requests fail, the failure is reported, and the next request starts another', async () => {
  const threads: Worker[] = [];
  const note = (worker: Worker): void => void threads.push(worker);
  process.on('worker', note);
  cleanups.push(() => process.off('worker', note));
  const guard = guardBy(exchanges['on another thread']);
  let hold = true;
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const url = await serve((incoming, response) => {
    if (hold) resolve();
    else echo(incoming, response);
  });
  const answer = guard.request(post(url), soon()).catch((error: unknown) => error);
  await arrived;
  hold = false;
  failures.length = 0;
  await threads[0]?.terminate();
  const ended = 'The worker thread that sends HTTP requests exited';
  expect(await answer).toMatchObject({ message: ended });
  expect(failures).toEqual([expect.objectContaining({ message: ended })]);
  expect((await guard.request(post(url), soon())).status).toBe(207);
  expect(threads).toHaveLength(2);
});

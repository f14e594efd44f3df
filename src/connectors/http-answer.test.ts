// HTTP answers: the outcome of a delivery by status, headers and clock.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { call, outcomeOf } from './http-answer.ts';

const now = Date.UTC(2026, 0, 1, 12);

test.each([
  ['120', 120_000],
  ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
  ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
  ['soon', undefined],
  [undefined, undefined],
])('review bug B8: Retry-After %s is a pause by the clock that is given', (retryAfter, pause) => {
  const outcome = outcomeOf({ status: 503, retryAfter, location: undefined, text: '' }, () => now);
  expect(outcome).toMatchObject({ ok: false, retry: true });
  expect('retryAfterMs' in outcome ? outcome.retryAfterMs : undefined).toBe(pause);
});

async function answering(listener: RequestListener, work: (url: string) => Promise<void>) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const post = (url: string) => ({ method: 'POST', url, headers: {}, body: '{}' });

test('of a long answer 16 KiB are kept, and one without an end does not hold the request', async () => {
  const endless: RequestListener = (_request, response) => {
    response.writeHead(200);
    for (let i = 0; i < 8; i++) response.write('x'.repeat(64 * 1024));
  };
  await answering(endless, async (url) => {
    const { status, text } = await call(post(url), AbortSignal.timeout(5_000));
    expect([status, text.length]).toEqual([200, 16 * 1024]);
  });
});

test('a signal ends a request that waits for its answer, with its own reason', async () => {
  const stop = new AbortController();
  const silent: RequestListener = () => stop.abort(new Error('enough'));
  await answering(silent, async (url) => {
    await expect(call(post(url), stop.signal)).rejects.toThrow('enough');
    await expect(call(post(url), stop.signal)).rejects.toThrow('enough');
  });
});

test('a connection that ends in the middle of an answer is a failure', async () => {
  const cut: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('half');
    setImmediate(() => response.destroy());
  };
  await answering(cut, async (url) => {
    await expect(call(post(url), AbortSignal.timeout(5_000))).rejects.toThrow();
  });
});

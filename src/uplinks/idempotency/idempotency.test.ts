// Idempotency-Key (contract, decisions and section 35), one home for each of its rules.
import { expect, test } from 'vitest';
import { problem } from '../../model/problem.ts';
import {
  type FirstAnswer,
  type IdempotencyRecord,
  Once,
  idempotencyKeptMs,
  type IdempotentCall,
} from './idempotency.ts';

function bench() {
  const rows = new Map<string, IdempotencyRecord>();
  const clock = { now: 1_000_000 };
  const { stored: once } = new Once(
    {
      find: async (id, seenAfter) => {
        const row = rows.get(id);
        return row !== undefined && row.firstSeenAt > seenAfter ? row : undefined;
      },
      async reserve(record) {
        rows.set(record.id, { ...record, durable: [] });
        return undefined;
      },
      complete: async (id, answer) => void rows.set(id, { ...rows.get(id)!, answer }),
      interrupt: async (id, durable) => void rows.set(id, { ...rows.get(id)!, durable }),
      release: async (id) => void rows.delete(id),
      create: () => Promise.reject(new Error('needs records')),
      failed: () => {},
    },
    () => clock.now,
  );
  let runs = 0;
  const work = async (): Promise<FirstAnswer> => ({ status: 201, body: { run: ++runs } });
  return { rows, clock, once, work, runs: () => runs };
}

const call: IdempotentCall = {
  credential: 'key1',
  route: 'POST /v3/capture',
  key: 'k',
  body: { a: 1 },
};

test('the same key returns the first answer', async () => {
  const { once, work, runs } = bench();
  expect(await once(call, work)).toEqual(await once(call, work));
  expect(runs()).toBe(1);
});

test('two requests with one key at the same time do the work once', async () => {
  const { once, work, runs } = bench();
  const [first, second] = await Promise.all([once(call, work), once(call, work)]);
  expect(first).toEqual(second);
  expect(runs()).toBe(1);
});

test('the same key with a different body: 422, also while the first is under way', async () => {
  const { once, work } = bench();
  const other = { ...call, body: { a: 2 } };
  const first = once(call, work);
  await expect(once(other, work)).rejects.toMatchObject({ status: 422 });
  await first;
  await expect(once(other, work)).rejects.toMatchObject({ status: 422 });
});

for (const [what, difference] of [
  ['credential', { credential: 'key2' }],
  ['route', { route: 'POST /v3/devices' }],
] as const) {
  test(`the key counts per ${what}`, async () => {
    const { once, work, runs } = bench();
    await once(call, work);
    await once({ ...call, ...difference }, work);
    expect(runs()).toBe(2);
  });
}

test('after 24 hours the key is new', async () => {
  const { once, work, runs, clock } = bench();
  await once(call, work);
  clock.now += idempotencyKeptMs;
  await once(call, work);
  expect(runs()).toBe(2);
});

test('a refused request leaves no trace', async () => {
  const { once, work, rows } = bench();
  await expect(
    once(call, () => Promise.reject(problem('invalidRequest', { reason: 'refused' }))),
  ).rejects.toMatchObject({ status: 400 });
  expect(rows.size).toBe(0);
  expect((await once(call, work)).status).toBe(201);
});

test('a retry after a crash runs again with the time of the first request', async () => {
  const { once, rows, clock } = bench();
  await once(call, async () => ({ status: 201, body: null }));
  for (const [id, row] of rows) rows.set(id, { ...row, answer: null });
  clock.now += 5_000;
  const times: number[] = [];
  await once(call, async ({ firstSeenAt }) => {
    times.push(firstSeenAt);
    return { status: 201, body: null };
  });
  expect(times).toEqual([1_000_000]);
});

test('review bug B10: after an internal failure the key stays, with what became durable', async () => {
  const { once, rows, clock } = bench();
  const part = { part: '0', contentHash: 'h', receivedAt: 1, correlationId: null, samples: 3 };
  const broken = once(call, async ({ done }) => {
    done(part);
    throw new Error('the disk failed');
  });
  await expect(broken).rejects.toThrow('the disk failed');
  expect([...rows.values()]).toMatchObject([{ answer: null, durable: [part] }]);
  clock.now += 5_000;
  const answer = await once(call, async ({ firstSeenAt, stored }) => {
    expect(() => stored('0', 'other')).toThrow('a different body');
    return { status: 201, body: [firstSeenAt, stored('0', 'h')?.samples ?? null] };
  });
  expect(answer.body).toEqual([1_000_000, 3]);
});

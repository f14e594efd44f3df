// Idempotency-Key of bodies that are worked on while they come in: what a crash or a failure leaves behind (contract 35).
import { expect, test } from 'vitest';
import { problem } from '../../model/problem.ts';
import {
  type Attempt,
  createOnceStreamed,
  type FirstAnswer,
  type IdempotencyRecord,
} from './idempotency.ts';

const call = { credential: 'key1', route: 'POST /bulk', key: 'k' };

async function* body(...pieces: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece);
}

function bench() {
  const rows = new Map<string, IdempotencyRecord>();
  const clock = { now: 1_000 };
  const once = createOnceStreamed(
    {
      find: async (id) => rows.get(id),
      async reserve(record) {
        rows.set(record.id, { ...record, durable: [] });
        return undefined;
      },
      complete: async (id, answer, bodyHash) =>
        void rows.set(id, {
          ...rows.get(id)!,
          answer,
          ...(bodyHash === undefined ? {} : { bodyHash }),
        }),
      interrupt: async (id, durable) => void rows.set(id, { ...rows.get(id)!, durable }),
      release: async (id) => void rows.delete(id),
      create: () => Promise.reject(new Error('needs records')),
      failed: () => {},
    },
    () => clock.now,
  );
  const seen: { text: string; now: number }[] = [];
  const work = async (
    bytes: AsyncIterable<Uint8Array>,
    { firstSeenAt: now }: Attempt,
  ): Promise<FirstAnswer> => {
    let text = '';
    for await (const chunk of bytes) text += Buffer.from(chunk).toString();
    seen.push({ text, now });
    return { status: 201, body: seen.length };
  };
  return { once, work, rows, clock, seen };
}

test('the same body in other pieces gets the first answer; another body a 422', async () => {
  const { once, work, seen } = bench();
  const first = await once(call, body('[1,', '2]'), work);
  expect(await once(call, body('[', '1,2]'), work)).toEqual(first);
  await expect(once(call, body('[1,3]'), work)).rejects.toMatchObject({ status: 422 });
  expect(seen).toHaveLength(1);
});

test('two requests at once do the work once; the one with another body is refused', async () => {
  const { once, work, seen } = bench();
  const [first, same, other] = await Promise.allSettled([
    once(call, body('[1]'), work),
    once(call, body('[1]'), work),
    once(call, body('[2]'), work),
  ]);
  expect(same).toEqual(first);
  expect(other).toMatchObject({ status: 'rejected', reason: { status: 422 } });
  expect(seen).toHaveLength(1);
});

test('after a crash the work is done again, at the time of the first request', async () => {
  const { once, work, rows, clock, seen } = bench();
  await once(call, body('[1]'), work);
  const [id, row] = [...rows][0]!;
  rows.set(id, { ...row, answer: null, bodyHash: '' });
  clock.now = 5_000;
  await once(call, body('[1]'), work);
  expect(seen).toEqual([
    { text: '[1]', now: 1_000 },
    { text: '[1]', now: 1_000 },
  ]);
});

test('a refused request leaves no trace of its key', async () => {
  const { once, work, rows } = bench();
  const refused = once(call, body('['), async () =>
    Promise.reject(problem('invalidRequest', { reason: 'refused' })),
  );
  await expect(refused).rejects.toMatchObject({ status: 400 });
  expect(rows.size).toBe(0);
  expect(await once(call, body('[1]'), work)).toMatchObject({ status: 201 });
});

// Idempotency-Key across crashes and failed writes: stored once, and a record is created with its key (contract 35).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const directory = mkdtempSync(join(tmpdir(), 'heliograph-idempotency-'));
let world = await startWorld({ directory });
const counting = `function consume(event) {
  const count = (event.state.count || 0) + 1;
  emit('state', { count });
  emit('sample', { data: { ...event.data, count } });
}`;
const scripted = await world.device({ script: counting });
const plain = await world.device();

afterAll(async () => {
  await world.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Runs statements on the records, as another process would. */
function onRecords(...statements: string[]): void {
  const database = new DatabaseSync(join(directory, 'records.sqlite'), { timeout: 5_000 });
  for (const statement of statements) database.exec(statement);
  database.close();
}

/**
 * Stops, takes the answers away, and starts: what a crash between the journal's fsync and the kept
 * answer leaves behind.
 */
async function crashBeforeAnswersAreKept(): Promise<void> {
  await world.close();
  onRecords('update idempotencyKeys set answer = null');
  world = await startWorld({ directory });
}

/** While the task runs the records keep no answer. */
async function withoutKeptAnswers<T>(task: () => Promise<T>): Promise<T> {
  onRecords(
    `create trigger refuseUpdate before update on idempotencyKeys when new.answer is not null begin select raise(abort, 'refused'); end`,
    `create trigger refuseInsert before insert on idempotencyKeys when new.answer is not null begin select raise(abort, 'refused'); end`,
  );
  try {
    return await task();
  } finally {
    onRecords('drop trigger refuseUpdate', 'drop trigger refuseInsert');
  }
}

const key = (name: string) => ({ 'idempotency-key': name });

function capture(at: World, device: TestDevice, name: string, body: object) {
  return at.call(
    'POST',
    `/v3/capture?secret=${device.secret}&deviceId=${device.deviceId}`,
    body,
    key(name),
  );
}

async function counts(device: TestDevice): Promise<number[]> {
  const samples: { data: { count: number } }[] = await world.must(
    'POST',
    `/v3/devices/${device.id}/query`,
    {},
  );
  return samples.map(({ data }) => data.count).sort((a, b) => a - b);
}

test('review reliability 10: a keyed capture cut off between journal and kept answer is stored once, and its decoder runs once', async () => {
  const first = await capture(world, scripted, 'c1', { a: 1 });
  await capture(world, scripted, 'c2', { a: 2 });
  await crashBeforeAnswersAreKept();
  const again = await capture(world, scripted, 'c1', { a: 1 });
  expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first.body });
  expect(await counts(scripted)).toEqual([1, 2]);
  // A further restart before the retry keeps the key.
  await world.close();
  world = await startWorld({ directory });
  expect((await capture(world, scripted, 'c2', { a: 2 })).status).toBe(201);
  expect((await capture(world, scripted, 'c1', { a: 1 })).body).toEqual(first.body);
  expect(await counts(scripted)).toEqual([1, 2]);
  expect((await capture(world, scripted, 'c1', { a: 9 })).status).toBe(422);
});

test('review reliability 10: backfill cut off before its answer is kept answers what it stored', async () => {
  const path = `/v3/devices/${plain.id}/backfill`;
  const samples = Array.from({ length: 2_500 }, (_, i) => ({
    data: { i },
    ...(i % 1_000 === 0 ? { topic: 'bad topic!' } : {}),
  }));
  const one = await world.call('POST', path, { data: { single: 1 } }, key('b1'));
  const many = await world.call('POST', `${path}/bulk`, samples, key('b2'));
  expect(many.body.accepted).toBeGreaterThan(0);
  await crashBeforeAnswersAreKept();
  const oneAgain = await world.call('POST', path, { data: { single: 1 } }, key('b1'));
  const changed = samples.map((sample, i) => (i === 2_000 ? { data: { i: -1 } } : sample));
  expect((await world.call('POST', `${path}/bulk`, changed, key('b2'))).status).toBe(422);
  const manyAgain = await world.call('POST', `${path}/bulk`, samples, key('b2'));
  expect([oneAgain.status, oneAgain.body, manyAgain.status, manyAgain.body]).toEqual([
    201,
    one.body,
    201,
    many.body,
  ]);
  const { kpi } = await world.must('POST', `/v3/devices/${plain.id}/query/raw/kpi`, {
    accumulator: 'COUNT',
    topic: 'default',
    dataKey: 'i',
    interval: { type: 'ABSOLUTE', from: '2000-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' },
  });
  expect(kpi).toBe(many.body.accepted);
});

test('review bug B10: a create whose key cannot be kept makes no record, so that the retry makes the only one', async () => {
  const draft = { name: 'once', workspaceId: world.workspaceId };
  const post = () => world.call('POST', '/v3/tags', draft, key('t1'));
  expect((await withoutKeptAnswers(post)).status).toBe(500);
  const made = await post();
  expect(made.status).toBe(201);
  expect((await post()).body).toEqual(made.body);
  const found = await world.must('GET', `/v3/tags?workspaceId=${world.workspaceId}&search=once`);
  expect(found.totalElements).toBe(1);
});

test('review bug B10: a key answered by a durable sample stays when its answer cannot be kept', async () => {
  const before = await counts(scripted);
  const first = await withoutKeptAnswers(() => capture(world, scripted, 'k1', { a: 1 }));
  expect(first.status).toBe(201);
  expect((await capture(world, scripted, 'k1', { a: 1 })).body).toEqual(first.body);
  expect((await counts(scripted)).length).toBe(before.length + 1);
});

test('review behaviour 23: an empty Idempotency-Key is not a key', async () => {
  const before = await counts(scripted);
  for (const a of [1, 2]) expect((await capture(world, scripted, '', { a })).status).toBe(201);
  expect((await counts(scripted)).length).toBe(before.length + 2);
});

// The machine as a whole: many runs at once, stuck workers, refusals, the end.
import { afterEach, expect, test } from 'vitest';
import type { Json } from '../model/json.ts';
import { ScriptMachine, type ScriptMachineOptions } from './script-machine.ts';

const machines: ScriptMachine[] = [];
afterEach(async () => {
  await Promise.all(machines.splice(0).map((machine) => machine.close()));
});

function start(options: ScriptMachineOptions = { workers: 1 }): ScriptMachine {
  const machine = new ScriptMachine(options);
  machines.push(machine);
  return machine;
}

const echo = 'function consume(event) { emit("log", event); }';
const stuck =
  'function consume() { emit("log", "kept"); const a = []; a.length = 2 ** 32 - 1; a.indexOf(1); }';
const slow =
  'function consume(event) { const end = Date.now() + event; while (Date.now() < end); emit("log", event); }';

test('results belong to their runs, over several workers, scripts and tenants', async () => {
  const machine = start({ workers: 2 });
  const runs = Array.from({ length: 2_000 }, async (_, i) => {
    const source = `function consume(event) { emit("log", [event, ${i % 7}]); }`;
    const { emits } = await machine.run({ tenant: `t${i % 5}`, source, event: i });
    return emits[0]!.event;
  });
  expect(await Promise.all(runs)).toEqual(Array.from({ length: 2_000 }, (_, i) => [i, i % 7]));
});

test('only the stuck run fails: what waits behind it in the same worker runs, and what it emitted is kept', async () => {
  const machine = start();
  const run = (source: string, event: Json) => machine.run({ tenant: 'a', source, event });
  const results = await Promise.all([
    run(echo, 1),
    run(stuck, 2),
    ...[3, 4, 5].map((event) => run(echo, event)),
    run(stuck, 6),
  ]);
  const killed = [
    { type: 'LOG', event: 'kept' },
    {
      type: 'ERROR',
      event: { message: expect.stringMatching(/^The script exceeded its time limit of \d+ ms$/) },
    },
  ];
  const echoed = (event: Json) => [{ type: 'LOG', event }];
  expect(results.map(({ emits }) => emits)).toEqual([
    echoed(1),
    killed,
    echoed(3),
    echoed(4),
    echoed(5),
    killed,
  ]);
});

test('one tenant with endless scripts does not keep others waiting for all of them', async () => {
  const machine = start();
  await machine.run({ tenant: 'other', source: echo, event: 0 });
  const finished: string[] = [];
  const track = async (tenant: string, run: Promise<unknown>) => {
    await run;
    finished.push(tenant);
  };
  const flood = Array.from({ length: 20 }, () =>
    track('greedy', machine.run({ tenant: 'greedy', source: slow, event: 40 })),
  );
  const others = ['b', 'c'].map((tenant) =>
    track(tenant, machine.run({ tenant, source: echo, event: 0 })),
  );
  await Promise.all([...flood, ...others]);
  expect(finished.filter((tenant) => tenant !== 'greedy')).toHaveLength(2);
  // On a busy machine several slow runs end while one of the others is prepared.
  expect(Math.max(finished.indexOf('b'), finished.indexOf('c'))).toBeLessThan(15);
});

test('too many waiting runs are refused with 503, and the others run', async () => {
  const machine = start({ workers: 1, limits: { tenantQueueMax: 10, queueMax: 15 } });
  const run = (tenant: string) => machine.run({ tenant, source: echo, event: 1 });
  const settled = await Promise.allSettled('aaaaaaaaaaaaabbbbbbbc'.split('').map(run));
  const refused = settled.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  // Three of `a` and three of `b`, which leaves the last place to `c`.
  expect(refused).toHaveLength(6);
  expect(settled.at(-1)).toMatchObject({ status: 'fulfilled' });
  for (const { reason } of refused)
    expect(reason).toMatchObject({ problem: 'intakeFull', status: 503 });
  expect((await run('a')).emits).toEqual([{ type: 'LOG', event: 1 }]);
});

test('closing rejects what waits with `stopping`, and what comes later', async () => {
  const machine = start();
  const waiting = machine.run({ tenant: 'a', source: echo, event: 1 });
  const refusal = expect(waiting).rejects.toMatchObject({ problem: 'stopping' });
  await machine.close();
  await refusal;
  await expect(machine.run({ tenant: 'a', source: echo, event: 1 })).rejects.toMatchObject({
    problem: 'stopping',
  });
});

test('closing while a script is stuck ends it', async () => {
  const machine = start();
  await machine.run({ tenant: 'a', source: echo, event: 1 });
  const refusal = expect(
    machine.run({ tenant: 'a', source: stuck, event: 1 }),
  ).rejects.toMatchObject({
    problem: 'stopping',
  });
  await machine.close();
  await refusal;
});

test('scripts that do not fit in the memory of a worker are compiled again', async () => {
  const machine = start({ workers: 1, limits: { imageCacheBytesMax: 300_000, scriptsMax: 8 } });
  for (let round = 0; round < 3; round++) {
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        machine.run({
          tenant: 'a',
          source: `function consume() { emit("log", ${i}); }`,
          event: {},
        }),
      ),
    );
    expect(results.map(({ emits }) => emits[0]!.event)).toEqual(
      Array.from({ length: 12 }, (_, i) => i),
    );
  }
});

test('NaN and infinities are marked with their paths on request, and texts of that kind are not', async () => {
  const source = `function consume() {
    emit('sample', { data: { a: NaN, b: 'NaN', list: [1, { c: Infinity }], none: null }, at: -Infinity });
    emit('sample', { data: { fine: null } });
    emit('log', NaN);
  }`;
  const { emits } = await start().run({ tenant: 'a', source, event: {}, nonFinite: 'marked' });
  expect(emits).toEqual([
    {
      type: 'SAMPLE',
      event: { data: { a: null, b: 'NaN', list: [1, { c: null }], none: null }, at: null },
      nonFinite: ['data.a', 'data.list.1.c', 'at'],
    },
    { type: 'SAMPLE', event: { data: { fine: null } } },
    { type: 'LOG', event: null, nonFinite: [''] },
  ]);
});

test('the limits of a run can be set', async () => {
  const machine = start({
    workers: 1,
    limits: { emitsMax: 2, cpuMs: 20, outputBytesMax: 100, sourceBytesMax: 200 },
  });
  const messages = async (source: string) => {
    const { emits } = await machine.run({ tenant: 'a', source, event: {} });
    return emits.flatMap(({ type, event }) =>
      type === 'ERROR' ? [(event as { message: string }).message] : [],
    );
  };
  expect(await messages('function consume() { for (;;) emit("log", 1); }')).toEqual([
    'emit was called more than 2 times',
  ]);
  expect(await messages('function consume() { for (;;); }')).toEqual([
    'The script exceeded its time limit of 20 ms',
  ]);
  expect(await messages('function consume() { emit("log", "x".repeat(200)); }')).toEqual([
    expect.stringMatching(/emitted more/),
  ]);
  expect(await messages(`function consume() { "${'x'.repeat(200)}" }`)).toEqual([
    expect.stringMatching(/must be at most 200/),
  ]);
});

test('review reliability 16: a thread that is ended is told in a sentence, one that rests or stops is not', async () => {
  const told: string[] = [];
  const machine = start({ workers: 1, troubled: (why) => void told.push(why) });
  await machine.run({ tenant: 'a', source: echo, event: 1 });
  expect(told).toEqual([]);
  await machine.run({ tenant: 'a', source: stuck, event: 2 });
  expect(told.length).toBeGreaterThan(0);
  for (const why of told) expect(why).toMatch(/^The script exceeded its time limit of \d+ ms$/);
  const before = told.length;
  await machine.close();
  expect(told).toHaveLength(before);
});

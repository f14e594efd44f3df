// Scripts in the thread that calls: results, limits, and the share of a tenant beside others.
import { beforeAll, expect, test, vi } from 'vitest';
import {
  localScriptLimits,
  LocalScripts,
  localScriptsStart,
  LocalScriptsWatch,
} from './local-scripts.ts';

let newStart: Awaited<ReturnType<typeof localScriptsStart>>;
beforeAll(async () => {
  newStart = await localScriptsStart();
});

const consume = (body: string) => `function consume(e) { ${body} }`;

async function withScript(source: string, tenant = 'a') {
  const scripts = await LocalScripts.start(newStart());
  expect(scripts.add({ id: 1, tenant, source })).toEqual([]);
  return scripts;
}

test('a script runs with its event, each time afresh', async () => {
  const scripts = await withScript(
    `let runs = 0; ${consume('runs++; emit("sample", { data: { runs, n: e.n } });')}`,
  );
  for (let n = 0; n < 3; n++) {
    const run = scripts.run(1, JSON.stringify({ n }));
    expect(run).toMatchObject({ isLate: false });
    expect(JSON.parse(run!.entries)).toMatchObject([
      { type: 'SAMPLE', event: { data: { runs: 1, n } } },
    ]);
  }
});

test('an error of the script is an entry', async () => {
  const scripts = await withScript(consume('throw new Error("no");'));
  const [entry] = JSON.parse(scripts.run(1, '{}')!.entries) as { type: string }[];
  expect(entry?.type).toBe('ERROR');
});

test('a long run is ended, and the next one is right', async () => {
  const scripts = await withScript(
    consume('if (e.long) for (;;); emit("sample", { data: { a: 1 } });'),
  );
  expect(scripts.run(1, '{"long":true}')).toMatchObject({ isLate: true });
  await expect.poll(() => scripts.run(1, '{}')).toMatchObject({ isLate: false });
});

test('after a run that took long, a run is judged by what it uses of a processor', async () => {
  const scripts = await withScript(consume(''));
  const now = vi.spyOn(performance, 'now');
  const used = vi.spyOn(process, 'threadCpuUsage');
  try {
    let [at, user, step] = [1_000, 0, 100];
    // The machine does something else for 5 ms between two looks at the clock.
    now.mockImplementation(() => (at += 5));
    used.mockImplementation(() => ({ user: (user += step), system: 0 }));
    const run = () => scripts.run(1, '{}')!;
    const first = run();
    expect(first.processorMs).toBe(first.durationMs);
    const quick = run();
    expect(quick.durationMs).toBeGreaterThan(localScriptLimits.quickMs);
    expect(quick.processorMs).toBeLessThan(localScriptLimits.quickMs);
    step = 1_200;
    expect(run().processorMs).toBeGreaterThan(localScriptLimits.quickMs);
    // What the system counts late is not of this run alone.
    step = 200_000;
    const late = run();
    expect(late.processorMs).toBe(late.durationMs);
  } finally {
    used.mockRestore();
    now.mockRestore();
  }
});

test('a run may emit as much as in the script machine', async () => {
  const scripts = await withScript(
    consume('emit("sample", { data: { text: "x".repeat(500000) } });'),
  );
  const entries = JSON.parse(scripts.run(1, '{}')!.entries) as { type: string }[];
  expect(entries.map(({ type }) => type)).toEqual(['SAMPLE']);
});

test('a source that does not parse is not kept', async () => {
  const scripts = await LocalScripts.start(newStart());
  expect(scripts.add({ id: 7, tenant: 'a', source: 'function consume(e) {' })).toEqual([7]);
  expect(scripts.run(7, '{}')).toBeUndefined();
});

test('what is forgotten does not run', async () => {
  const scripts = await withScript(consume(''));
  scripts.forget(1);
  expect(scripts.run(1, '{}')).toBeUndefined();
});

test('a tenant has all the time alone, and its share beside another', async () => {
  const scripts = await withScript(consume('for (let i = 0; i < 20000; i++) e.n += i;'));
  scripts.add({ id: 2, tenant: 'b', source: consume('') });
  const now = vi.spyOn(performance, 'now');
  try {
    let at = 1_000;
    // Each look at the clock is one more millisecond.
    now.mockImplementation(() => at++);
    for (let run = 0; run < 60; run++) expect(scripts.run(1, '{"n":0}')).toBeDefined();
    at += 10 * localScriptLimits.windowMs;
    expect(scripts.run(2, '{}')).toBeDefined();
    const runs = Array.from({ length: 60 }, () => scripts.run(1, '{"n":0}'));
    expect(runs[0]).toBeDefined();
    expect(runs).toContain(undefined);
    expect(scripts.run(2, '{}')).toBeDefined();
  } finally {
    now.mockRestore();
  }
});

test('a run that is under way and gives no sign of life is seen', async () => {
  const start = newStart();
  const scripts = await LocalScripts.start(start);
  scripts.add({ id: 3, tenant: 'a', source: consume('') });
  scripts.run(3, '{}');
  const watch = new LocalScriptsWatch(start);
  expect(watch.stuck(0)).toBeUndefined();
  expect(watch.stuck(localScriptLimits.silenceMsMax * 2)).toBeUndefined();
  const { createRunRecorder, recorderPhases } = await import('./run-recorder.ts');
  createRunRecorder(start.recorder).begin(3, recorderPhases.running);
  expect(watch.stuck(10_000)).toBeUndefined();
  expect(watch.stuck(10_000 + localScriptLimits.silenceMsMax + 1)).toBe(3);
});

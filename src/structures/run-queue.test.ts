// The queue's fairness and bounds, without any thread.
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { type RunKind, RunQueue, type Waiting } from './run-queue.ts';

interface Numbered extends Waiting {
  readonly number: number;
}

const limits = {
  tenantQueueMax: 1_000,
  queueMax: 10_000,
  trialsRunningMax: 4,
  trialsWaitingMax: 100,
  trialBytesMax: 1_000,
  quickMsMax: 10,
};
const run = (tenant: string, number = 0, kind: RunKind = 'live', bytes = 10): Numbered => ({
  tenant,
  kind,
  bytes,
  number,
});
const names = (runs: readonly Waiting[]): string => runs.map(({ tenant }) => tenant).join('');
const open = (more: Partial<typeof limits> = {}) =>
  new RunQueue<Numbered>({ ...limits, ...more }, () => 0);

function filled(tenants: string) {
  const queue = open();
  tenants.split('').forEach((tenant, number) => queue.push(run(tenant, number)));
  return queue;
}

type Queue = ReturnType<typeof open>;

/**
 * Serves the queue with one thread that takes one run at a time, for so many milliseconds; what
 * each tenant got of them.
 */
function serve(
  queue: Queue,
  costs: Readonly<Record<string, number>>,
  forMs: number,
): Record<string, number> {
  const got: Record<string, number> = {};
  for (let passed = 0; passed < forMs; ) {
    const [taken] = queue.take(1, true).runs;
    if (taken === undefined) break;
    const cost = costs[taken.tenant]!;
    passed += cost;
    got[taken.tenant] = (got[taken.tenant] ?? 0) + cost;
    queue.settle(taken, cost);
    queue.push(taken);
  }
  return got;
}

test('a batch is shared by tenants in turns, and ends at its size', () => {
  expect(names(filled('aaaabbbbcc').take(6, true).runs)).toBe('aabbcc');
  expect(names(filled('aaaa').take(3, true).runs)).toBe('aaa');
  expect(open().take(3, true).runs).toEqual([]);
});

test('review security 4: tenants get the same time, whatever a run of theirs takes', () => {
  const queue = filled('abc'.repeat(50));
  const got = serve(queue, { a: 5, b: 0.5, c: 0.1 }, 3_000);
  // The same within one run of the slowest, to which the quantum comes.
  expect(Math.abs(got['a']! - got['b']!)).toBeLessThan(7);
  expect(Math.abs(got['b']! - got['c']!)).toBeLessThan(7);
});

test('review security 4: a tenant with endless scripts keeps its debt while nothing of it waits', () => {
  let now = 0;
  const queue = new RunQueue<Numbered>(limits, () => now);
  const hostile = run('h');
  queue.push(hostile);
  expect(queue.take(1, true).runs).toEqual([hostile]);
  now += 100;
  queue.settle(hostile, 100);
  queue.push(hostile);
  for (let i = 0; i < 50; i++) queue.push(run('v', i));
  expect(queue.take(60, true)).toMatchObject({ lane: 'quick', runs: { length: 50 } });
  expect(queue.take(60, true)).toEqual({ lane: 'slow', runs: [hostile] });
});

test('review security 4: slow tenants are served one run at a time, and never by the thread that is kept for others', () => {
  const queue = open();
  const first = run('h', 1);
  queue.push(first);
  queue.settle(queue.take(16, true).runs[0]!, 100);
  for (let number = 2; number < 5; number++) queue.push(run('h', number));
  expect(queue.hasSlow).toBe(true);
  expect(queue.take(16, false).runs).toEqual([]);
  expect(queue.take(16, true)).toMatchObject({ lane: 'slow', runs: [{ number: 2 }] });
  queue.push(run('v'));
  expect(names(queue.take(16, false).runs)).toBe('v');
});

test('a tenant is quick again after enough quick runs, and one slow run makes it slow at once', () => {
  const queue = open();
  const lanes: string[] = [];
  for (const ms of [1, 100, ...Array<number>(40).fill(0.5)]) {
    queue.push(run('a'));
    const { lane, runs } = queue.take(1, true);
    lanes.push(lane);
    queue.settle(runs[0]!, ms);
  }
  expect(lanes.slice(0, 4)).toEqual(['quick', 'quick', 'slow', 'slow']);
  expect(lanes.at(-1)).toBe('quick');
});

test('contract 36: trials come below live runs, so many at once and waiting, and so many bytes', () => {
  const queue = open({ trialsWaitingMax: 2 });
  for (let i = 0; i < 8; i++) {
    expect(queue.push(run('t', i, 'trial'))).toBe(i < 6 ? 'taken' : 'tenantFull');
  }
  expect(queue.trials('t')).toEqual({ waiting: 6, underWay: 0 });
  const taken = Array.from({ length: 5 }, () => queue.take(16, true).runs[0]);
  expect(taken.map((each) => each?.number)).toEqual([0, 1, 2, 3, undefined]);
  expect(queue.trials('t')).toEqual({ waiting: 2, underWay: 4 });
  // However many of them have begun.
  expect(queue.push(run('t', 8, 'trial'))).toBe('tenantFull');
  queue.settle(taken[0]!, 1);
  expect(queue.push(run('t', 9, 'trial'))).toBe('taken');
  expect(queue.take(16, true).runs[0]?.number).toBe(4);
  expect([600, 600].map((bytes) => queue.push(run('u', 0, 'trial', bytes)))).toEqual([
    'taken',
    'tenantFull',
  ]);
});

test('trials get a ninth of the time while live runs wait, and the rest of the time otherwise', () => {
  const queue = open();
  for (let i = 0; i < 20; i++) {
    queue.push(run('v', i));
    queue.push(run('t', i, 'trial'));
  }
  const got = serve(queue, { v: 1, t: 1 }, 900);
  expect(got['t']).toBeGreaterThan(80);
  expect(got['t']).toBeLessThan(120);
});

test('runs that come back keep the order of their tenant, and stand behind tenants that were not served', () => {
  const queue = filled('aabb');
  const first = queue.take(2, true).runs;
  expect(names(first)).toBe('aa');
  queue.putBack(first);
  expect(queue.take(4, true).runs.map(({ number }) => number)).toEqual([2, 3, 0, 1]);
});

test('a full queue refuses: the tenant first, then everybody', () => {
  const queue = open({ tenantQueueMax: 2, queueMax: 3 });
  const pushed = 'aaabb'.split('').map((tenant) => queue.push(run(tenant)));
  expect(pushed).toEqual(['taken', 'taken', 'tenantFull', 'taken', 'full']);
  expect(queue.size).toBe(3);
  expect(queue.drain()).toHaveLength(3);
  expect(queue.size).toBe(0);
});

test('whatever is pushed, taken, dropped and settled: nothing is lost, nothing comes twice', () => {
  const operation = fc.oneof(
    fc.record({
      push: fc.constantFrom('a', 'b', 'c', 'd'),
      kind: fc.constantFrom<RunKind>('live', 'trial'),
    }),
    fc.record({
      take: fc.integer({ min: 1, max: 5 }),
      ms: fc.integer({ min: 0, max: 40 }),
      back: fc.boolean(),
    }),
    fc.record({ drop: fc.nat(200) }),
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const queue = open({ trialsWaitingMax: 1_000, trialBytesMax: 1e9 });
      const pushed: Numbered[] = [];
      const out: Numbered[] = [];
      for (const step of operations) {
        if ('push' in step) {
          pushed.push(run(step.push, pushed.length, step.kind));
          queue.push(pushed.at(-1)!);
        } else if ('drop' in step) {
          const dropped = pushed[step.drop];
          if (dropped !== undefined && queue.remove(dropped)) out.push(dropped);
        } else {
          const { runs } = queue.take(step.take, true);
          if (step.back) queue.putBack(runs);
          else for (const taken of runs) queue.settle(taken, step.ms);
          if (!step.back) out.push(...runs);
        }
        expect(queue.size).toBe(pushed.length - out.length);
      }
      while (queue.size > 0) {
        const { runs } = queue.take(16, true);
        expect(runs.length).toBeGreaterThan(0);
        for (const taken of runs) queue.settle(taken, 1);
        out.push(...runs);
      }
      expect(out.map(({ number }) => number).sort((a, b) => a - b)).toEqual(
        pushed.map(({ number }) => number),
      );
    }),
  );
});

test('the order of one tenant holds through takes and returns', () => {
  const queue = filled('aaaaaaaa');
  const got: number[] = [];
  for (let back = true; queue.size > 0; back = !back) {
    const { runs } = queue.take(3, true);
    if (back) queue.putBack(runs);
    else for (const taken of runs) got.push(taken.number);
    if (!back) for (const taken of runs) queue.settle(taken, 1);
  }
  expect(got).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test('review security 2: tenants that fill the queue leave room for others', () => {
  const queue = open({ tenantQueueMax: 40, queueMax: 100 });
  const waiting = (tenant: string): number => {
    for (let count = 0; ; count++) if (queue.push(run(tenant)) !== 'taken') return count;
  };
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(waiting);
  expect([a, b]).toEqual([40, 40]);
  expect(c).toBeLessThan(20);
  for (const later of [c, d, e]) expect(later).toBeGreaterThan(0);
});

// The queue's fairness and bounds, without any thread.
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { createRunQueue, type Waiting } from './run-queue.ts';

interface Numbered extends Waiting {
  readonly number: number;
}

const runsOf = (tenants: string): Numbered[] => tenants.split('').map((tenant, number) => ({ tenant, number }));
const names = (runs: readonly Waiting[]): string => runs.map(({ tenant }) => tenant).join('');
const nobody = () => false;

function filled(tenants: string, tenantMax = 100, totalMax = 1_000) {
  const queue = createRunQueue<Numbered>(tenantMax, totalMax);
  for (const run of runsOf(tenants)) queue.push(run);
  return queue;
}

const turns: [string, string, number, string][] = [
  ['tenants take turns, whoever sent more', 'aaaaabbc', 8, 'abcabaaa'],
  ['a batch ends at its size', 'aaaabbbb', 3, 'aba'],
  ['one tenant alone gets it all', 'aaaa', 3, 'aaa'],
  ['nothing waits', '', 3, ''],
];
for (const [name, tenants, count, taken] of turns) {
  test(name, () => expect(names(filled(tenants).take(count, nobody))).toBe(taken));
}

test('turns go on where the last batch ended', () => {
  const queue = filled('aaabbbccc');
  expect(names(queue.take(2, nobody))).toBe('ab');
  expect(names(queue.take(2, nobody))).toBe('ca');
  expect(names(queue.take(5, nobody))).toBe('bcabc');
  expect(queue.size).toBe(0);
});

test('a tenant that runs elsewhere waits as long as others wait', () => {
  const queue = filled('aaab');
  const busy = (tenant: string) => tenant === 'a';
  expect(names(queue.take(3, busy))).toBe('b');
  expect(names(queue.take(3, busy))).toBe('aaa');
});

test('the runs of one tenant keep their order, also when they come back', () => {
  const queue = filled('aaaa');
  const [first, second] = queue.take(2, nobody);
  queue.putBack([first!, second!]);
  expect(queue.take(4, nobody).map(({ number }) => number)).toEqual([0, 1, 2, 3]);
});

test('tenants whose runs come back are served next, in the order of those runs', () => {
  const queue = filled('aaabcd');
  const [, ...notBegun] = queue.take(5, nobody);
  expect(names(notBegun)).toBe('bcda');
  queue.putBack(notBegun);
  expect(names(queue.take(9, nobody))).toBe('bcdaa');
});

test('a full queue refuses: the tenant first, then everybody', () => {
  const queue = createRunQueue<Waiting>(2, 3);
  expect('aaabb'.split('').map((tenant) => queue.push({ tenant }))).toEqual([true, true, false, true, false]);
  expect(queue.size).toBe(3);
  expect(queue.drain()).toHaveLength(3);
  expect(queue.size).toBe(0);
});

test('whatever is pushed and taken: nothing is lost, nothing comes twice, order holds within a tenant', () => {
  const operation = fc.oneof(
    fc.record({ push: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ take: fc.integer({ min: 1, max: 5 }), back: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const queue = createRunQueue<Numbered>(1_000, 10_000);
      let number = 0;
      const out: Numbered[] = [];
      for (const step of operations) {
        if ('push' in step) queue.push({ tenant: step.push, number: number++ });
        else {
          const taken = queue.take(step.take, nobody);
          if (step.back) queue.putBack(taken);
          else out.push(...taken);
        }
        expect(queue.size).toBe(number - out.length);
      }
      out.push(...queue.take(number, nobody));
      expect(out.map((run) => run.number).sort((a, b) => a - b)).toEqual(Array.from({ length: number }, (_, i) => i));
      for (const tenant of 'abcd') {
        const own = out.filter((run) => run.tenant === tenant).map((run) => run.number);
        expect(own).toEqual(own.toSorted((a, b) => a - b));
      }
    }),
  );
});

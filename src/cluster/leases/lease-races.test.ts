// Races of leases: delayed statements, lost sessions and killed nodes in random order leave one holder at most.
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Lease, LeaseName } from './leases.ts';
import { SharedLeases } from './shared-leases.ts';
import { TableModel, type RunStep } from './testing-lease-table.ts';

const leaseMs = 10_000;
const names: readonly LeaseName[] = [
  'workspaces/0',
  'workspaces/1',
  'workspaces/2',
  'workspaces/3',
];
const nodeIds = ['a', 'b', 'c'] as const;

/** A statement on its way: it runs at the table later, and is answered after that, or never. */
interface Statement {
  readonly node: string;
  execute: (() => void) | undefined;
  answer: (() => void) | undefined;
  readonly lose: () => void;
}

interface Node {
  readonly id: string;
  /** How its clock runs: within the margin of the leases. */
  readonly rate: number;
  process: Process | undefined;
}

/** One run of a node; once killed it does nothing, but what it has sent can still run. */
interface Process {
  readonly leases: SharedLeases;
  readonly known: Lease[];
}

type Step =
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'turn' | 'kill' | 'drain' | 'lose'; readonly node: number }
  | { readonly kind: 'execute' | 'answer'; readonly place: number };

const node = fc.nat(nodeIds.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('time'), ms: fc.nat(2_000) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('turn'), node }) },
  { weight: 20, arbitrary: fc.record({ kind: fc.constant('execute'), place: fc.nat(2) }) },
  { weight: 20, arbitrary: fc.record({ kind: fc.constant('answer'), place: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('kill', 'drain', 'lose'), node }) },
) as fc.Arbitrary<Step>;

class Race {
  now = 0;
  statements: Statement[] = [];
  readonly model = new TableModel(leaseMs, () => this.now);
  readonly nodes: Node[];
  isDelayed = true;

  constructor(rates: readonly number[]) {
    this.nodes = nodeIds.map((id, place) => ({
      id,
      rate: rates[place] ?? 1,
      process: undefined,
    }));
  }

  #stepsOf(id: string, isKilled: () => boolean): RunStep {
    return (work) => {
      if (isKilled()) return new Promise(() => undefined);
      if (!this.isDelayed) return Promise.resolve().then(work);
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof work>>();
      const statement: Statement = {
        node: id,
        execute: () => {
          const result = work();
          statement.execute = undefined;
          statement.answer = () => resolve(result);
        },
        answer: undefined,
        lose: () => reject(new Error('connection lost')),
      };
      this.statements.push(statement);
      return promise;
    };
  }

  leasesOf(one: Node): SharedLeases {
    if (one.process !== undefined) return one.process.leases;
    const known: Lease[] = [];
    const steps = this.#stepsOf(one.id, () => one.process?.known !== known);
    const leases = new SharedLeases({
      node: { id: one.id, url: `http://${one.id}` },
      openTable: async () => this.model.openTable(steps),
      leaseMs,
      now: () => this.now * one.rate,
      setTimer: () => () => undefined,
      setRepeatingTimer: () => () => undefined,
      events: { failed: () => undefined, superseded: () => undefined, changed: () => undefined },
    });
    one.process = { leases, known };
    leases.want(names);
    leases.onChange(async (gained) => void known.push(...gained));
    return leases;
  }

  /** A lost session answers nothing, and what it sent may still run. */
  lose(id: string): void {
    for (const statement of this.statements) {
      if (statement.node !== id) continue;
      statement.lose();
      statement.answer = undefined;
    }
    this.statements = this.statements.filter(({ execute }) => execute !== undefined);
  }

  async run(one: Step): Promise<void> {
    if (one.kind === 'time') this.now += one.ms;
    else if (one.kind === 'execute') this.#pending('execute', one.place)?.();
    else if (one.kind === 'answer') this.#pending('answer', one.place)?.();
    else if ('node' in one) this.#act(one.kind, this.nodes[one.node]);
    await turnOfLoop();
  }

  #pending(kind: 'execute' | 'answer', place: number): (() => void) | undefined {
    const ready = this.statements.filter((statement) => statement[kind] !== undefined);
    const found = ready[place % Math.max(1, ready.length)];
    if (kind === 'answer')
      this.statements = this.statements.filter((statement) => statement !== found);
    return found?.[kind];
  }

  #act(kind: 'turn' | 'kill' | 'drain' | 'lose', one: Node | undefined): void {
    if (one === undefined) return;
    if (kind === 'turn')
      void this.leasesOf(one)
        .refresh()
        .catch(() => undefined);
    else if (kind === 'drain')
      void this.leasesOf(one)
        .drain()
        .catch(() => undefined);
    else this.lose(one.id);
    if (kind === 'kill') one.process = undefined;
  }

  /** Nodes that would acknowledge, by lease. */
  holders(): Map<LeaseName, string[]> {
    const found = new Map<LeaseName, string[]>();
    for (const { id, process } of this.nodes)
      for (const { name } of process?.known.filter((lease) => lease.isValid()) ?? [])
        found.set(name, [...(found.get(name) ?? []), id]);
    return found;
  }

  mustHaveOneHolder(): void {
    for (const [name, ids] of this.holders())
      if (ids.length > 1) throw new Error(`${name} is held by ${ids.join(' and ')}`);
  }
}

/** Two clocks differ by a fifth of the time of a lease at most. */
const rates = fc.tuple(...nodeIds.map(() => fc.double({ min: 0.9, max: 1.1, noNaN: true })));

test('with any statement delayed, lost or killed, a lease has one holder, and in the end each has one', async () => {
  await fc.assert(
    fc.asyncProperty(
      rates,
      fc.array(step, { minLength: 200, maxLength: 400, size: 'max' }),
      async (by, steps) => {
        const race = new Race(by);
        for (const one of steps) {
          await race.run(one);
          race.mustHaveOneHolder();
        }
        race.isDelayed = false;
        for (const { id } of race.nodes) race.lose(id);
        // A drained node takes no leases before it starts again.
        for (const one of race.nodes) one.process = undefined;
        for (let turn = 0; turn < 30; turn++) {
          race.now += 1_000;
          for (const one of race.nodes) {
            await race.leasesOf(one).refresh();
            await race.leasesOf(one).idle();
          }
          race.mustHaveOneHolder();
        }
        expect(race.holders().size).toBe(names.length);
      },
    ),
    { numRuns: 60 },
  );
}, 240_000);

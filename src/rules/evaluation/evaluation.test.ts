// Evaluation equals a slow evaluator written independently, on random rules and streams; and its corners by name.
// 300 cases in the tests; `RULE_CASES=5000 RULE_SEED=7 npx vitest run src/rules/evaluation/evaluation.test.ts`
// runs as many as wanted, others.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import type { Rule } from '../../model/rule.ts';
import { compileRule } from './compiled-rule.ts';
import { type DevicePlan, planDevice } from './device-plan.ts';
import { RuleMemory, evaluateSample, evaluateTimed, type Visit } from './evaluation.ts';
import {
  type ReferenceSample,
  type ReferenceWorld,
  referenceFirings,
} from './testing-reference.ts';
import { condition, constant, fromSource, ruleFor, sourceFor } from './testing-rules.ts';
import { randomWorld } from './testing-worlds.ts';

const cases = Number(process.env['RULE_CASES'] ?? 300);
/** The same worlds every time; another seed reads others. */
const seed = Number(process.env['RULE_SEED'] ?? 20_261_121);

function compiled(rule: Rule, consecutive: Readonly<Record<string, boolean>>) {
  const connectors = new Map(
    Object.entries(consecutive).map(([id, sendConsecutiveAlerts]) => [
      id,
      { sendConsecutiveAlerts },
    ]),
  );
  return compileRule(rule, { connectors, customLogic: new Map() })!;
}

function firings({ rules, samples, tags, consecutive }: ReferenceWorld): string[] {
  const memory: RuleMemory = new RuleMemory(
    () => Infinity,
    () => 0,
  );
  const made = rules.map((rule) => compiled(rule, consecutive));
  const plans = new Map<string, DevicePlan>();
  const fired: string[] = [];
  for (const [at, sample] of samples.entries()) {
    const { deviceId } = sample;
    const plan = plans.get(deviceId) ?? planDevice(deviceId, new Set(tags[deviceId]), made);
    if (plan === undefined) continue;
    plans.set(deviceId, plan);
    const visit: Visit = ({ rule }, _reading, _places, verdict) => {
      for (const { cause, actionId } of verdict!.firings)
        fired.push(`${rule.id} ${at} ${cause} ${actionId}`);
    };
    evaluateSample(plan, sample, memory, {
      visit,
      unjudged: (rule, places, _why, late) =>
        late && visit(rule, late.reading, places, late.verdict),
    });
  }
  return fired;
}

/** Within a sample the order of rules does not count. */
function bySample(list: readonly string[]): string[] {
  return [...list].sort(
    (a, b) => Number(a.split(' ')[1]) - Number(b.split(' ')[1]) || (a < b ? -1 : 1),
  );
}

test(`${cases} random rule sets and streams equal the slow evaluator`, () => {
  let fired = 0;
  fc.assert(
    fc.property(randomWorld, (world) => {
      const wanted = referenceFirings(world);
      fired += wanted.length;
      expect(bySample(firings(world))).toEqual(bySample(wanted));
    }),
    { numRuns: cases, seed },
  );
  // A generator that fires nothing would prove nothing.
  expect(fired).toBeGreaterThan(cases);
});

const sample = (deviceId: string, data: JsonObject, timestamp = 0): ReferenceSample => ({
  deviceId,
  topic: 'default',
  timestamp,
  data,
});

function stream(rule: Rule, samples: readonly ReferenceSample[], again = false): number[] {
  const fired = firings({ rules: [rule], samples, tags: {}, consecutive: { '09a': again } });
  return fired.map((one) => Number(one.split(' ')[1]));
}

describe('contract 35: sendConsecutiveAlerts', () => {
  const values = [10, 21, 22, 19, null, 23, 24].map((a, i) => sample('02a', { a }, i));
  test('off: a comparison fires from false to true, and a missing value is false', () => {
    expect(stream(ruleFor('02a'), values)).toEqual([1, 5]);
  });
  test('on: it fires every time', () => {
    expect(stream(ruleFor('02a'), values, true)).toEqual([1, 2, 5, 6]);
  });
  test('each device has its own', () => {
    const inputs = ['02a', '02b'].map((id) => ({ ...ruleFor(id).inputs[0]! }));
    const logic = {
      ...ruleFor('02a').logic,
      dataSources: [sourceFor('s', '02a', { inputIds: ['02a', '02b'] })],
    };
    const both = ruleFor('02a', { inputs, logic });
    expect(
      stream(both, [sample('02a', { a: 21 }), sample('02b', { a: 21 }), sample('02a', { a: 22 })]),
    ).toEqual([0, 1]);
  });
});

describe('contract 13: what a data source shows', () => {
  const withSources = (...dataSources: Rule['logic']['dataSources'][number][]) =>
    ruleFor('02a', {
      inputs: ['02a', '02b'].map((id) => ({ ...ruleFor(id).inputs[0]! })),
      logic: {
        ...ruleFor('02a').logic,
        dataSources,
        logicBlocks: [
          { conditions: [condition(fromSource('s'), 'GT', fromSource('t'))], actionIds: ['09a'] },
        ],
      },
    });

  test('lastSample is the value before the triggering one', () => {
    const rises = withSources(sourceFor('s', '02a'), sourceFor('t', '02a', { lastSample: true }));
    const values = [5, 6, 6, 4, 7].map((a, i) => sample('02a', { a }, i));
    expect(stream(rises, values, true)).toEqual([1, 4]);
  });
  test('a data source of previous values triggers nothing next to one that can', () => {
    const rule = withSources(sourceFor('s', '02a'), sourceFor('t', '02b', { lastSample: true }));
    const samples = [
      sample('02a', { a: 5 }),
      sample('02b', { a: 1 }),
      sample('02b', { a: 2 }),
      sample('02a', { a: 3 }),
    ];
    expect(stream(rule, samples, true)).toEqual([3]);
  });
  test('another device shows its newest sample, and a late one does not push it out', () => {
    const rule = withSources(sourceFor('s', '02a'), sourceFor('t', '02b', { lastSample: true }));
    const samples = [
      sample('02b', { a: 9 }, 10),
      sample('02b', { a: 1 }, 5),
      sample('02a', { a: 5 }, 11),
    ];
    expect(stream(rule, samples, true)).toEqual([]);
  });
  test('a sample without the key triggers nothing and is not remembered for it', () => {
    const rule = withSources(sourceFor('s', '02a'), sourceFor('t', '02b', { lastSample: true }));
    const samples = [
      sample('02b', { a: 1 }),
      sample('02b', { b: 9 }),
      sample('02a', { b: 5 }),
      sample('02a', { a: 5 }),
    ];
    expect(stream(rule, samples, true)).toEqual([3]);
  });
});

describe('contract 13: timed runs', () => {
  const timer = {
    ...ruleFor('02a').timer,
    enabled: true,
    type: 'INTERVAL',
    schedule: 'PT1H',
  } as const;
  const memoryWith = (rule: Rule, samples: readonly ReferenceSample[]): RuleMemory => {
    const memory: RuleMemory = new RuleMemory(
      () => Infinity,
      () => 0,
    );
    const plan = planDevice('02a', new Set(), [compiled(rule, { '09a': false })])!;
    const visit = () => {
      throw new Error('an uplink triggered a timed rule');
    };
    for (const one of samples) evaluateSample(plan, one, memory, { visit });
    return memory;
  };

  test('a timer reads the last sample, and uplinks do not trigger', () => {
    const rule = ruleFor('02a', { timer });
    const memory = memoryWith(rule, [sample('02a', { a: 25 })]);
    expect(evaluateTimed(compiled(rule, { '09a': false }), memory)!.verdict!.firings).toHaveLength(
      1,
    );
    expect(evaluateTimed(compiled(rule, { '09a': false }), memory)!.verdict).toMatchObject({
      firings: [],
      suppressed: true,
    });
  });
  test('triggerOnUplink lets uplinks trigger as well', () => {
    const logic = {
      ...ruleFor('02a').logic,
      dataSources: [sourceFor('s', '02a', { triggerOnUplink: true })],
    };
    expect(stream(ruleFor('02a', { timer, logic }), [sample('02a', { a: 25 })])).toEqual([0]);
  });
  test('a tag as input aborts a timed run', () => {
    const inputs = [{ ...ruleFor('02a').inputs[0]!, id: '71a', type: 'ASSET_TAG' as const }];
    const logic = { ...ruleFor('02a').logic, dataSources: [sourceFor('s', '71a')] };
    const rule = compiled(ruleFor('02a', { timer, inputs, logic }), {});
    expect(
      evaluateTimed(
        rule,
        new RuleMemory(
          () => Infinity,
          () => 0,
        ),
      ),
    ).toBeUndefined();
  });
});

describe('constants', () => {
  test('a rule of constants alone is judged whenever its data source triggers', () => {
    const logicBlocks = [
      { conditions: [condition(constant(1), 'EQ', constant('1'))], actionIds: ['09a'] },
    ];
    const rule = ruleFor('02a', { logic: { ...ruleFor('02a').logic, logicBlocks } });
    expect(stream(rule, [sample('02a', { a: 1 }), sample('02a', { a: 1 })])).toEqual([0]);
  });
});

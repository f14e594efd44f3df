// Random rules, devices and streams of samples for property tests.
import fc from 'fast-check';
import type { JsonObject } from '../../model/json.ts';
import {
  comparisonOperators,
  type Rule,
  type RuleDataSource,
  type RuleInput,
  valueTypes,
} from '../../model/rule.ts';
import { condition, constant, fromSource, ruleFor, sourceFor } from './testing-rules.ts';
import type { ReferenceSample, ReferenceWorld } from './testing-reference.ts';

const devices = ['02a', '02b', '02c'];
const tagIds = ['71a', '71b'];
const keys = ['a', 'b', 'lat', 'lng'];
const actionIds = ['09once', '09again'];

const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -8, max: 8 }) },
  fc.boolean(),
  fc.constantFrom('1', '2', 'true', 'FALSE', 'x', ''),
  fc.constant(null),
);

const sample: fc.Arbitrary<ReferenceSample> = fc.record({
  deviceId: fc.constantFrom(...devices),
  topic: fc.constantFrom('default', 'other'),
  // Few instants, so that late samples and samples of one instant are common.
  timestamp: fc.integer({ min: 0, max: 30 }),
  data: fc.dictionary(fc.constantFrom(...keys), value, {
    minKeys: 2,
    maxKeys: 4,
  }) as fc.Arbitrary<JsonObject>,
});

const input: fc.Arbitrary<RuleInput> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...devices).map((id) => inputOf(id, 'DEVICE')) },
  fc.constantFrom(...tagIds).map((id) => inputOf(id, 'ASSET_TAG')),
  fc.constantFrom('AND:71a,71b', 'OR:71a,71b', 'OR:71b').map((text) => ({
    ...inputOf(text, 'TAG_COMBINATION'),
    tagCombination: text,
  })),
);

function inputOf(id: string, type: RuleInput['type']): RuleInput {
  return { id, name: null, type, tagCombination: null, workspaceId: null };
}

function source(id: string, inputs: readonly RuleInput[], name: string | null, key?: string) {
  return fc
    .record({
      inputIds: fc.subarray(
        inputs.map((one) => one.id),
        { minLength: 1 },
      ),
      dataTopic: fc.constantFrom('default', 'default', 'other', '*'),
      dataKey: key === undefined ? fc.constantFrom('a', 'b') : fc.constant(key),
      valueType: fc.constantFrom(...valueTypes),
      lastSample: fc.boolean(),
      triggerOnUplink: fc.boolean(),
    })
    .map(
      (more): RuleDataSource => ({ ...sourceFor(id, devices[0]!), ...more, variableName: name }),
    );
}

function comparison(id: string, inputs: readonly RuleInput[]): fc.Arbitrary<Rule> {
  const ids = ['s1', 's2', 's3'];
  const sources = fc
    .integer({ min: 1, max: 3 })
    .chain((n) => fc.tuple(...ids.slice(0, n).map((s) => source(s, inputs, null))));
  return sources.chain((dataSources) => {
    const operand = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...dataSources.map((s) => fromSource(s.id))) },
      fc.constantFrom(...dataSources.map((s) => fromSource(s.id, 'b'))),
      fc.constantFrom(0, 1, '2', true).map(constant),
    );
    const conditions = fc
      .array(
        fc.tuple(
          operand,
          fc.constantFrom(...comparisonOperators),
          operand,
          fc.constantFrom('AND' as const, 'OR' as const),
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((list) =>
        list.map(([first, operator, second, chain], i) =>
          condition(first, operator, second, i, i === list.length - 1 ? null : chain),
        ),
      );
    const block = fc.record({ conditions, actionIds: fc.subarray(actionIds, { minLength: 1 }) });
    return fc.array(block, { minLength: 1, maxLength: 2 }).map((logicBlocks) =>
      ruleFor(devices[0]!, {
        id,
        inputs,
        actions: actionIds.map((action) => ({ id: action, configuration: {} })),
        logic: {
          type: 'COMPARISON',
          dataSources,
          logicBlocks,
          geoFenceLogicBlock: null,
          customLogic: null,
        },
      }),
    );
  });
}

const ring = [
  [-5, -5],
  [5, -5],
  [5, 5],
  [-5, 5],
  [-5, -5],
];
const geoJson = {
  type: 'FeatureCollection',
  features: [
    { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } },
  ],
};

function fence(id: string, inputs: readonly RuleInput[]): fc.Arbitrary<Rule> {
  return fc
    .tuple(
      source('s1', inputs, 'latitude', 'lat'),
      source('s2', inputs, 'longitude', 'lng'),
      fc.subarray(actionIds, { minLength: 1 }),
      fc.subarray(actionIds, { minLength: 1 }),
    )
    .map(([latitude, longitude, insideActionIds, outsideActionIds]) =>
      ruleFor(devices[0]!, {
        id,
        inputs,
        actions: actionIds.map((action) => ({ id: action, configuration: {} })),
        logic: {
          type: 'GEO_FENCE',
          dataSources: [latitude, longitude],
          logicBlocks: null,
          geoFenceLogicBlock: { address: null, geoJson, insideActionIds, outsideActionIds },
          customLogic: null,
        },
      }),
    );
}

function rule(id: string): fc.Arbitrary<Rule> {
  return fc
    .uniqueArray(input, { minLength: 1, maxLength: 3, selector: (one) => one.id })
    .chain((inputs) =>
      fc.oneof({ weight: 3, arbitrary: comparison(id, inputs) }, fence(id, inputs)),
    );
}

function identityOf({ deviceId, topic, timestamp, data }: ReferenceSample): string {
  return JSON.stringify([
    deviceId,
    topic,
    timestamp,
    Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
}

/** Rules of comparisons and geofences over three devices with tags, and a stream of samples. */
export const randomWorld: fc.Arbitrary<ReferenceWorld> = fc.record({
  rules: fc
    .integer({ min: 1, max: 4 })
    .chain((n) => fc.tuple(...['21a', '21b', '21c', '21d'].slice(0, n).map(rule))),
  // The store keeps identical samples once.
  samples: fc.uniqueArray(sample, { minLength: 5, maxLength: 30, selector: identityOf }),
  tags: fc.record(Object.fromEntries(devices.map((id) => [id, fc.subarray(tagIds)]))),
  consecutive: fc.constant({ '09once': false, '09again': true }),
});

/**
 * The same with rules that are switched off and on in between, and samples that trigger nothing.
 */
export const randomHistory: fc.Arbitrary<ReferenceWorld> = randomWorld.chain((world) =>
  fc.record({
    rules: fc.constant(world.rules),
    tags: fc.constant(world.tags),
    consecutive: fc.constant(world.consecutive),
    samples: fc.tuple(
      ...world.samples.map((one) =>
        fc
          .constantFrom(false, false, false, true)
          .map((skipped): ReferenceSample => ({ ...one, skipped })),
      ),
    ),
    switches: fc.array(
      fc.record({
        at: fc.nat({ max: world.samples.length - 1 }),
        ruleId: fc.constantFrom(...world.rules.map(({ id }) => id)),
      }),
      { maxLength: 6 },
    ),
  }),
);

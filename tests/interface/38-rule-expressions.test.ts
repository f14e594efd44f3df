// Contract 38: operands of rules that are expressions, checked when the rule is saved and computed for the sample of their data source.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AlarmRules, alarmRules } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const minute = 60_000;
/** A whole hour of today, so that every sample is in the past. */
const start = Math.floor(Date.now() / (60 * minute)) * 60 * minute - 24 * 60 * minute;

let world: World;
let { of, output } = {} as AlarmRules;
beforeAll(async () => {
  world = await startWorld();
  ({ of, output } = alarmRules(world));
});
afterAll(() => world.close());

const expression = (text: string, more: object = {}) => ({
  type: 'EXPRESSION',
  dataSourceId: 's1',
  expression: text,
  ...more,
});
const constant = (value: unknown) => ({ type: 'CONSTANT', value });

async function ruleOf(
  inputs: readonly { readonly id: string; readonly type: string }[],
  operandFirst: object,
  operator: string,
  operandSecond: object,
  { source = {}, ...block }: { readonly source?: object } & Record<string, unknown> = {},
) {
  const connector = await output();
  const conditions = [{ operandFirst, operator, operandSecond }];
  return {
    name: 'Formula',
    workspaceId: world.workspaceId,
    inputs,
    logic: {
      type: 'COMPARISON',
      dataSources: [
        {
          id: 's1',
          inputIds: inputs.map(({ id }) => id),
          dataTopic: 'default',
          dataKey: 'temperature',
          valueType: 'NUMERICAL',
          ...source,
        },
      ],
      logicBlocks: [{ conditions, actionIds: [connector], ...block }],
    },
    actions: [{ id: connector }],
  };
}

async function created(
  device: TestDevice,
  ...more: Parameters<typeof ruleOf> extends [unknown, ...infer R] ? R : never
) {
  return world.must(
    'POST',
    '/v3/rules',
    await ruleOf([{ id: device.id, type: 'DEVICE' }], ...more),
  );
}

async function send(device: TestDevice, ...list: readonly (readonly [at: number, data: object])[]) {
  for (const [at, data] of list)
    await world.must('POST', '/v3/samples/bulk', [
      { deviceId: device.id, timestamp: new Date(start + at * minute).toISOString(), data },
    ]);
}

/** Oldest first. */
async function runsOf(rule: { readonly id: string }, count: number) {
  const path = `/v3/rules/${rule.id}/runs`;
  const runs = async () =>
    (await world.must('GET', path)).content as readonly { outcome: string; reason: string }[];
  await expect.poll(runs, { timeout: 60_000 }).toHaveLength(count);
  return (await runs()).map(({ outcome, reason }) => `${outcome} ${reason}`).reverse();
}

describe('a rule that is saved', () => {
  test.each([
    ['temperature +', 40038, 'operandFirst.expression at character 14: Unexpected token'],
    ['1 > "warm"', 40038, 'at character 5: A string cannot be compared with a number'],
    ['avgOver(temperature, "P2D")', 40038, 'at character 1: windows of rules are at most PT24H'],
    ['last(temperature, "P30D")', 40038, 'windows of rules are at most PT24H'],
    ['device("0200000000000000", "t")', 40010, '0200000000000000'],
    ['', 40076, 'logic.logicBlocks.0.conditions.0.operandFirst.expression: is required'],
  ])('with %s is refused with the place', async (text, code, message) => {
    const device = await world.device();
    const rule = await ruleOf(
      [{ id: device.id, type: 'DEVICE' }],
      expression(text),
      'GT',
      constant(1),
    );
    const { status, body } = await world.call('POST', '/v3/rules', rule);
    expect(status, JSON.stringify(body)).toBe(400);
    expect(body.errorCode ?? body.code).toMatch(String(code));
    expect(body.message).toContain(message);
  });

  test('names a data source, at most 50 expressions and 10 other devices', async () => {
    const device = await world.device();
    const inputs = [{ id: device.id, type: 'DEVICE' }];
    const refused = async (rule: object) =>
      (await world.call('POST', '/v3/rules', rule)).body.message;
    const foreign = await ruleOf(
      inputs,
      expression('temperature', { dataSourceId: 'other' }),
      'GT',
      constant(1),
    );
    expect(await refused(foreign)).toContain('other is not a data source of this rule');
    const one = {
      operandFirst: expression('temperature'),
      operator: 'GT',
      operandSecond: expression('0'),
    };
    const many = await ruleOf(inputs, expression('temperature'), 'GT', constant(1), {
      conditions: Array.from({ length: 26 }, () => one),
    });
    expect(await refused(many)).toContain('must have at most 50 expressions');
    const others = Array.from({ length: 12 }, (_, i) => `device("02aaaaaaaaaaaa${10 + i}", "t")`);
    const named = await ruleOf(
      inputs,
      expression(others.slice(0, 6).join('+')),
      'GT',
      expression(others.slice(6).join('+')),
    );
    expect(await refused(named)).toContain('must have at most 10 other devices');
  });

  test('has the expression and the type of its result', async () => {
    const device = await world.device();
    const rule = await created(device, expression('temperature > 8'), 'EQ', constant(true));
    const [{ conditions }] = rule.logic.logicBlocks;
    expect(conditions[0].operandFirst).toEqual({
      type: 'EXPRESSION',
      valueType: 'BOOLEAN',
      dataKey: null,
      dataSourceId: 's1',
      value: null,
      expression: 'temperature > 8',
    });
    expect(conditions[0].operandSecond).not.toHaveProperty('expression');
    const again = await world.must('PUT', `/v3/rules/${rule.id}`, {
      name: 'Renamed',
      version: rule.version,
    });
    expect(again.logic).toEqual(rule.logic);
  });
});

describe('evaluation', () => {
  test('compares the result with a constant, a key and another expression, and says what it compared', async () => {
    const device = await world.device();
    const fahrenheit = await created(
      device,
      expression('temperature * 9 / 5 + 32'),
      'GT',
      constant(77),
    );
    const key = { type: 'DATA_SOURCE', dataSourceId: 's1', dataKey: 'limit' };
    const beside = await created(device, expression('temperature + 1'), 'GTE', key);
    await send(device, [1, { temperature: 20, limit: 22 }], [2, { temperature: 26, limit: 27 }]);
    expect(await runsOf(fahrenheit, 2)).toEqual([
      'NOT_FIRED no condition was met: 68 is not above 77',
      'FIRED logic block 1 was true: 78.8 is above 77',
    ]);
    expect(await runsOf(beside, 2)).toEqual([
      'NOT_FIRED no condition was met: 21 is not at least 22',
      'FIRED logic block 1 was true: 27 is at least 27',
    ]);
  });

  test('reads windows, the value before, and values of other samples', async () => {
    const device = await world.device();
    const rise = await created(
      device,
      expression('change(temperature, "PT1H")'),
      'GT',
      constant(5),
    );
    const jump = await created(
      device,
      expression('abs(temperature - prev(temperature))'),
      'GT',
      constant(3),
    );
    const open = await created(
      device,
      expression('last(door, "PT10M") == "open" && temperature > 8'),
      'EQ',
      constant(true),
    );
    await send(
      device,
      [0, { temperature: 4 }],
      [2, { door: 'open' }],
      [5, { temperature: 9 }],
      [30, { temperature: 10 }],
    );
    expect(await runsOf(rise, 3)).toEqual([
      'NOT_FIRED no condition was met: 0 is not above 5',
      'NOT_FIRED no condition was met: 5 is not above 5',
      'FIRED logic block 1 was true: 6 is above 5',
    ]);
    expect(await runsOf(jump, 3)).toEqual([
      'NOT_FIRED no value for logic block 1, condition 1',
      'FIRED logic block 1 was true: 5 is above 3',
      'NOT_FIRED no condition was met: 1 is not above 3',
    ]);
    // It reads both keys, so that samples with either of them are evaluated.
    expect(await runsOf(open, 4)).toEqual([
      'NOT_FIRED no condition was met: last(door, "PT10M") == "open" && temperature > 8 is false',
      'NOT_FIRED no value for logic block 1, condition 1',
      'FIRED logic block 1 was true: last(door, "PT10M") == "open" && temperature > 8 is true',
      'NOT_FIRED no value for logic block 1, condition 1',
    ]);
  });

  test('samples of one request are judged in the order of time, each with what was before it', async () => {
    const device = await world.device();
    const rule = await created(
      device,
      expression('temperature - prev(temperature)'),
      'GT',
      constant(3),
    );
    const at = (minutes: number, temperature: number) => ({
      deviceId: device.id,
      timestamp: new Date(start + minutes * minute).toISOString(),
      data: { temperature },
    });
    await world.must('POST', '/v3/samples/bulk', [at(3, 6), at(1, 1), at(2, 2), at(200, 7)]);
    expect(await runsOf(rule, 4)).toEqual([
      'NOT_FIRED no value for logic block 1, condition 1',
      'NOT_FIRED no condition was met: 1 is not above 3',
      'FIRED logic block 1 was true: 4 is above 3',
      'NOT_FIRED no condition was met: 1 is not above 3',
    ]);
    // What is late changes nothing, and counts for what follows.
    await send(device, [190, { temperature: 0 }], [201, { temperature: 11 }]);
    expect((await runsOf(rule, 6)).slice(4)).toEqual([
      expect.stringMatching(/^LATE /),
      'FIRED logic block 1 was true: 4 is above 3',
    ]);
  });

  test('of a tag each device has its own values; other devices and fields are of the workspace', async () => {
    const tag = await world.must('POST', '/v3/tags', {
      name: 'Rooms',
      workspaceId: world.workspaceId,
    });
    const [one, two, outside] = [
      await world.device({ tags: [{ id: tag.id }] }),
      await world.device({ tags: [{ id: tag.id }] }),
      await world.device(),
    ];
    const text = `temperature - device("${outside.id}", "temperature")`;
    const rule = await world.must(
      'POST',
      '/v3/rules',
      await ruleOf([{ id: tag.id, type: 'ASSET_TAG' }], expression(text), 'GT', constant(10)),
    );
    await send(outside, [0, { temperature: 5 }]);
    await send(one, [1, { temperature: 14 }]);
    await send(two, [1, { temperature: 16 }]);
    await send(outside, [2, { temperature: -5 }]);
    await send(one, [3, { temperature: 14 }]);
    expect(await runsOf(rule, 3)).toEqual([
      'NOT_FIRED no condition was met: 9 is not above 10',
      'FIRED logic block 1 was true: 11 is above 10',
      'FIRED logic block 1 was true: 19 is above 10',
    ]);
    expect(await of(one)).toMatchObject([{ state: 'OPEN' }]);
  });

  test('works with durations and conditions that clear', async () => {
    const device = await world.device();
    const rule = await created(
      device,
      expression('avgOver(temperature, "PT10M")'),
      'GT',
      constant(8),
      {
        holdsFor: 'PT5M',
        clearConditions: [
          { operandFirst: expression('temperature'), operator: 'LT', operandSecond: constant(2) },
        ],
      },
    );
    await send(
      device,
      [0, { temperature: 9 }],
      [5, { temperature: 11 }],
      [6, { temperature: 3 }],
      [7, { temperature: 1 }],
    );
    const runs = await runsOf(rule, 4);
    expect(runs.map((run) => run.split(' ')[0])).toEqual([
      'NOT_FIRED',
      'FIRED',
      'FIRED',
      'NOT_FIRED',
    ]);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'CLEARED' }]);
  });

  test('a simulation gives what the rule gave', async () => {
    const device = await world.device();
    const rule = await created(
      device,
      expression('change(temperature, "PT5M")'),
      'GT',
      constant(2),
    );
    await send(
      device,
      ...Array.from({ length: 8 }, (_, i) => [i, { temperature: (i * i) / 4 }] as const),
    );
    const runs = await runsOf(rule, 8);
    const simulated = await world.must('POST', `/v3/rules/${rule.id}/simulate`, {
      from: new Date(start).toISOString(),
      to: new Date(start + 60 * minute).toISOString(),
    });
    expect(
      simulated.content.map(
        (run: { outcome: string; reason: string }) => `${run.outcome} ${run.reason}`,
      ),
    ).toEqual(runs);
    expect(runs).toContain('FIRED logic block 1 was true: 2.25 is above 2');
  });

  test('samples that were deleted no longer count', async () => {
    const device = await world.device();
    const rule = await created(
      device,
      expression('sumOver(temperature, "PT1H")'),
      'GT',
      constant(100),
    );
    await send(device, [0, { temperature: 90 }], [1, { temperature: 5 }]);
    await runsOf(rule, 2);
    const { id } = await world.must('POST', '/v3/samples/delete', {
      workspaceId: world.workspaceId,
      deviceIds: [device.id],
      from: new Date(start).toISOString(),
      to: new Date(start + 30_000).toISOString(),
    });
    const operation = () => world.must('GET', `/v3/operations/${id}`);
    await expect
      .poll(async () => (await operation()).completed, { timeout: 60_000 })
      .not.toBeNull();
    await send(device, [2, { temperature: 20 }]);
    expect((await runsOf(rule, 3))[2]).toBe('NOT_FIRED no condition was met: 25 is not above 100');
  });

  test('a timer computes the expression for the last sample', async () => {
    const device = await world.device();
    const body = await ruleOf(
      [{ id: device.id, type: 'DEVICE' }],
      expression('temperature - prev(temperature)'),
      'GT',
      constant(1),
    );
    await send(device, [0, { temperature: 1 }], [1, { temperature: 4 }]);
    const rule = await world.must('POST', '/v3/rules', {
      ...body,
      timer: { enabled: true, type: 'INTERVAL', schedule: 'PT10S' },
    });
    await expect
      .poll(async () => (await world.must('GET', `/v3/rules/${rule.id}/runs`)).content[0]?.reason, {
        timeout: 60_000,
      })
      .toBe('logic block 1 was true: 3 is above 1');
  });
});

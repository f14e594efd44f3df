// Contract 38: conditions of rules that are met by what is unusual, learned from the weeks before.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AlarmRules, alarmRules, temperatureOf } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const hour = 3_600_000;
const day = 24 * hour;
const today = Math.floor(Date.now() / day) * day;

let world: World;
let { of, output } = {} as AlarmRules;
beforeAll(async () => {
  world = await startWorld();
  ({ of, output } = alarmRules(world));
});
afterAll(() => world.close());

/** Warm by day, cool at night, never twice the same. */
const usualAt = (at: number) =>
  20 + 3 * Math.sin(((at % day) / day) * 2 * Math.PI) + 0.2 * Math.sin(at / 7e6);

async function measured(device: TestDevice, weeks = 5) {
  const first = today - weeks * 7 * day;
  await world.must(
    'POST',
    '/v3/samples/bulk',
    Array.from({ length: weeks * 7 * 24 }, (_, i) => ({
      deviceId: device.id,
      timestamp: new Date(first + i * hour).toISOString(),
      data: { temperature: usualAt(first + i * hour) },
    })),
  );
}

async function ruleOf(device: TestDevice, expression: string, block: object = {}) {
  const connector = await output();
  const operandFirst = { type: 'EXPRESSION', dataSourceId: 's1', expression };
  const operandSecond = { type: 'CONSTANT', value: true };
  return {
    name: 'Unusual',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [temperatureOf(device.id)],
      logicBlocks: [
        {
          conditions: [{ operandFirst, operator: 'EQ', operandSecond }],
          actionIds: [connector],
          ...block,
        },
      ],
    },
    actions: [{ id: connector }],
  };
}

const send = (device: TestDevice, at: number, temperature: number) =>
  world.must('POST', '/v3/samples/bulk', [
    { deviceId: device.id, timestamp: new Date(at).toISOString(), data: { temperature } },
  ]);

async function reasons(rule: { readonly id: string }, count: number) {
  const runs = async () => (await world.must('GET', `/v3/rules/${rule.id}/runs`)).content;
  await expect.poll(runs, { timeout: 60_000 }).toHaveLength(count);
  return (await runs())
    .map((run: { outcome: string; reason: string }) => `${run.outcome} ${run.reason}`)
    .reverse();
}

test('an unusual value opens an alarm, a usual one ends it, as the expected range of that hour says', async () => {
  const device = await world.device();
  await measured(device);
  const rule = await world.must('POST', '/v3/rules', await ruleOf(device, 'unusual(temperature)'));
  const range = await world.must('POST', `/v3/devices/${device.id}/query/expected`, {
    topic: 'default',
    dataKey: 'temperature',
    interval: { from: new Date(today).toISOString(), to: new Date(today + hour).toISOString() },
  });
  expect(range.method).toBe('HOUR_OF_WEEK');
  const [lower, upper] = [range.lower[0], range.upper[0]];
  const width = (upper - lower) / 1_000;
  await send(device, today, upper - width);
  await send(device, today + 1_000, upper + width);
  await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN' }]);
  await send(device, today + 2_000, lower + width);
  await send(device, today + 3_000, lower - width);
  expect(await reasons(rule, 4)).toEqual([
    'NOT_FIRED no condition was met: unusual(temperature) is false',
    'FIRED logic block 1 was true: unusual(temperature) is true',
    'NOT_FIRED no condition was met: unusual(temperature) is false',
    'FIRED logic block 1 was true: unusual(temperature) is true',
  ]);
});

test('every sensitivity agrees with the query', async () => {
  const device = await world.device();
  await measured(device);
  const at = today + 5 * hour;
  for (const [i, sensitivity] of ['LOW', 'MEDIUM', 'HIGH'].entries()) {
    const rule = await world.must(
      'POST',
      '/v3/rules',
      await ruleOf(device, `unusual(temperature, "${sensitivity}")`),
    );
    const { upper } = await world.must('POST', `/v3/devices/${device.id}/query/expected`, {
      topic: 'default',
      dataKey: 'temperature',
      interval: { from: new Date(at).toISOString(), to: new Date(at + hour).toISOString() },
      sensitivity,
    });
    await send(device, at + i * 60_000, upper[0] - 0.001);
    await send(device, at + i * 60_000 + 1, upper[0] + 0.001);
    expect((await reasons(rule, 2)).map((said: string) => said.split(' ')[0])).toEqual([
      'NOT_FIRED',
      'FIRED',
    ]);
    await world.must('DELETE', `/v3/rules/${rule.id}`);
  }
});

test('without history nothing is judged, the run says so, and an alarm stays as it is', async () => {
  const device = await world.device();
  await measured(device, 1);
  const rule = await world.must(
    'POST',
    '/v3/rules',
    await ruleOf(device, 'unusual(temperature) || temperature > 90'),
  );
  await send(device, today, 100);
  await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN' }]);
  await send(device, today + 1, 20);
  expect(await reasons(rule, 2)).toEqual([
    expect.stringMatching(/^FIRED /),
    'NOT_FIRED not judged: what is usual for temperature is not known from so little history',
  ]);
  expect(await of(device)).toMatchObject([{ state: 'OPEN', count: 1 }]);
});

test('a simulation says what the rule would have done, and holds for a time', async () => {
  const device = await world.device();
  await measured(device);
  for (let i = 0; i < 4; i++) await send(device, today - 2 * hour + i * 20 * 60_000 + 1, 40);
  const from = today - 3 * hour;
  const simulated = await world.must('POST', '/v3/rules/simulate', {
    rule: await ruleOf(device, 'unusual(temperature)', { holdsFor: 'PT30M' }),
    from: new Date(from).toISOString(),
    to: new Date(today).toISOString(),
  });
  const [first] = simulated.content.filter((run: { outcome: string }) => run.outcome === 'FIRED');
  expect(first).toMatchObject({
    trigger: 'TIMER',
    timestamp: new Date(today - 2 * hour + 30 * 60_000 + 1).toISOString(),
    reason: 'logic block 1 was true for PT30M',
  });
});

test('a workspace asks for 10,000 keys of devices at most', async () => {
  const devices = await Promise.all(Array.from({ length: 42 }, () => world.device()));
  const [first] = devices;
  const rule = await ruleOf(first as TestDevice, 'unusual(temperature)');
  const [block] = rule.logic.logicBlocks;
  const [condition] = block?.conditions ?? [];
  const conditionsFor = (expressions: number) =>
    Array.from({ length: expressions }, (_, i) => {
      const expression = Array.from({ length: 40 }, (__, k) => `unusual(k${i}_${k})`).join(' || ');
      return { ...condition, operandFirst: { ...condition?.operandFirst, expression } };
    });
  const wide = (expressions: number) => ({
    ...rule,
    inputs: devices.map(({ id }) => ({ id, type: 'DEVICE' })),
    logic: {
      ...rule.logic,
      dataSources: [{ ...rule.logic.dataSources[0], inputIds: devices.map(({ id }) => id) }],
      logicBlocks: [{ ...block, conditions: conditionsFor(expressions) }],
    },
  });
  const kept = await world.must('POST', '/v3/rules', wide(4));
  const refused = await world.call('POST', '/v3/rules', wide(2));
  expect([refused.status, refused.body.code ?? refused.body.errorCode]).toEqual([
    409,
    '40976_TOO_MANY_USUAL_KEYS',
  ]);
  expect(refused.body.message).toMatch(/would ask for 10\d{3} keys .* the maximum is 10000/);
  // One that is not active asks for nothing, and a rule does not count twice.
  await world.must('POST', '/v3/rules', { ...wide(2), active: false });
  const again = await world.must('PUT', `/v3/rules/${kept.id}`, {
    name: 'Wide',
    version: kept.version,
  });
  await world.must('DELETE', `/v3/rules/${again.id}`);
});

test('is for rules only, with a key of the sample and a sensitivity', async () => {
  const device = await world.device();
  const refused = async (text: string) => {
    const { status, body } = await world.call('POST', '/v3/rules', await ruleOf(device, text));
    expect(status).toBe(400);
    return body.message;
  };
  expect(await refused('unusual(temperature, "EXTREME")')).toContain(
    'at character 22: EXTREME must be LOW, MEDIUM, or HIGH',
  );
  expect(await refused('unusual(key("temperature", "other"))')).toContain(
    'unusual needs a data key of the sample',
  );
  const query = await world.call('POST', `/v3/devices/${device.id}/query/raw/kpi`, {
    topic: 'default',
    expression: 'unusual(temperature)',
    accumulator: 'MAX',
    interval: { from: new Date(today - day).toISOString(), to: new Date(today).toISOString() },
  });
  expect([query.status, query.body.message]).toEqual([
    400,
    expect.stringContaining('in conditions of rules only'),
  ]);
  const checked = await world.must('POST', '/v3/expressions/check', {
    expression: 'unusual(temperature, "LOW")',
  });
  expect(checked).toMatchObject({ valid: true, type: 'boolean', keys: ['temperature'] });
});

// Contract 37: alarms of rules, from their first trigger to their end, through a whole platform.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ActionSink, sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { type AlarmRules, alarmRules, temperatureOf } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let sink: ActionSink;
let clockAheadMs = 0;
let { output, hotRule, send, of, newest } = {} as AlarmRules;
beforeAll(async () => {
  sink = await startActionSink();
  world = await startWorld({ environment: sinkEnvironment, now: () => Date.now() + clockAheadMs });
  ({ output, hotRule, send, of, newest } = alarmRules(world));
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

describe('one open alarm of a key', () => {
  test('opens, counts and is cleared when the rule is false; the next trigger opens another', async () => {
    const device = await world.device({ name: 'Oven' });
    const connector = await output();
    const rule = await hotRule(device, [[20, connector]]);
    await send(device, 19, 21, 22, 23);
    await expect.poll(() => of(device)).toMatchObject([{ count: 3 }]);
    const open = (await of(device))[0]!;
    expect(open).toEqual({
      id: expect.stringMatching(/^22[0-9a-f]{14}$/),
      workspaceId: world.workspaceId,
      organizationId: world.organizationId,
      name: 'Oven is hot',
      severity: 'MAJOR',
      state: 'OPEN',
      key: `${rule.id}:${device.id}`,
      device: { id: device.id, name: 'Oven', deviceId: device.deviceId },
      rule: { id: rule.id, name: 'Too hot' },
      outputConnectorId: connector,
      count: 3,
      firstTriggered: expect.any(String),
      lastTriggered: expect.any(String),
      sampleTime: { first: expect.any(String), last: expect.any(String) },
      acknowledged: null,
      cleared: null,
      escalated: null,
      muted: null,
      data: { temperature: 23 },
      correlationId: expect.any(String),
      comments: [],
      // One change stores every trigger that waits: three triggers need one change to three.
      version: expect.toSatisfy((version: number) => version >= 1 && version <= 3),
    });
    await send(device, 18, 24);
    await expect
      .poll(() => of(device))
      .toMatchObject([
        { state: 'OPEN', count: 1, data: { temperature: 24 } },
        { id: open.id, state: 'CLEARED', count: 3, cleared: { by: null, reason: 'RULE_FALSE' } },
      ]);
  });

  test('a severity rises with its name and never falls; both outputs must be false', async () => {
    const device = await world.device({ name: 'Kiln' });
    const warning = await output({ name: 'Warm', severity: 'WARNING' });
    const critical = await output({ name: 'Burning', severity: 'CRITICAL' });
    await hotRule(device, [
      [20, warning],
      [50, critical],
    ]);
    await send(device, 30, 60);
    await expect
      .poll(() => of(device))
      .toMatchObject([
        { name: 'Burning', severity: 'CRITICAL', count: 3, outputConnectorId: critical },
      ]);
    await send(device, 30);
    await expect
      .poll(() => of(device))
      .toMatchObject([{ severity: 'CRITICAL', state: 'OPEN', count: 4 }]);
    await send(device, 10);
    await expect
      .poll(() => of(device))
      .toMatchObject([{ severity: 'CRITICAL', state: 'CLEARED', count: 4 }]);
  });

  test('with sendConsecutiveAlerts false only the change to true is a trigger', async () => {
    const device = await world.device();
    await hotRule(device, [[20, await output({}, { sendConsecutiveAlerts: false })]]);
    await send(device, 21, 22);
    await expect.poll(() => of(device)).toMatchObject([{ count: 1, data: { temperature: 21 } }]);
  });

  test('one alarm of several devices ends when the last of them is false', async () => {
    const connector = await output({ key: 'site {{data.site}}', name: 'Site {{data.site}}' });
    const devices = [await world.device(), await world.device()] as const;
    for (const device of devices) {
      await hotRule(device, [[20, connector]]);
      await world.capture(device, { temperature: 30, site: 'A' });
    }
    const [first, second] = devices;
    const open = () => of(first);
    await expect.poll(() => open()).toMatchObject([{ key: 'site A', name: 'Site A', count: 2 }]);
    await send(first, 10);
    await expect.poll(() => open()).toMatchObject([{ state: 'OPEN' }]);
    await send(second, 10);
    await expect
      .poll(() => open())
      .toMatchObject([{ state: 'CLEARED', cleared: { reason: 'RULE_FALSE' } }]);
  });

  test('a storm of samples counts each of them, before and after an end', async () => {
    const device = await world.device({ name: 'Storm' });
    const both = [await output(), await output({ key: 'storm of {{data.k}}' })] as const;
    for (const connector of both) await hotRule(device, [[20, connector]]);
    const samples = Array.from({ length: 1_001 }, (_, n) => ({
      deviceId: device.id,
      timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString(),
      data: { temperature: n === 600 ? 10 : 30, k: n % 2, n },
    }));
    await world.must('POST', '/v3/samples/bulk', samples);
    const shown = async () =>
      (await of(device))
        .map((alarm) => {
          const { state, count, key, data } = alarm as unknown as {
            readonly [name: string]: string;
            readonly data: never;
          };
          return [state, count, key?.startsWith('storm') ? key : 'own', data['n']];
        })
        .toSorted((a, b) => String(a).localeCompare(String(b)));
    await expect.poll(shown).toEqual([
      ['CLEARED', 300, 'storm of 0', 598],
      ['CLEARED', 300, 'storm of 1', 599],
      ['CLEARED', 600, 'own', 599],
      ['OPEN', 200, 'storm of 0', 1_000],
      ['OPEN', 200, 'storm of 1', 999],
      ['OPEN', 400, 'own', 1_000],
    ]);
  });

  test('clearWhen NEVER waits for people; a sample without the value ends nothing', async () => {
    const [stays, unknown] = [await world.device(), await world.device()];
    await hotRule(stays, [[20, await output({ clearWhen: 'NEVER' })]]);
    await send(stays, 30, 10);
    await expect.poll(() => of(stays)).toMatchObject([{ state: 'OPEN' }]);
    const connector = await output();
    await hotRule(unknown, [
      [20, connector],
      [1_000, await output()],
    ]);
    await send(unknown, 30);
    await world.capture(unknown, { temperature: null });
    await expect.poll(() => of(unknown)).toMatchObject([{ state: 'OPEN' }]);
  });

  test('a rule that is switched off ends what it opened, and opens another when it is on again', async () => {
    const device = await world.device();
    const rule = await hotRule(device, [[20, await output()]]);
    await send(device, 30);
    // What waits for its evaluation when a rule is switched off is not evaluated.
    await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN' }]);
    await world.must('PUT', `/v3/rules/${rule.id}`, { active: false });
    const ended = { state: 'CLEARED', cleared: { reason: 'RULE_DEACTIVATED' } };
    await expect.poll(() => of(device)).toMatchObject([ended]);
    await world.must('PUT', `/v3/rules/${rule.id}`, { active: true });
    await send(device, 31);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN', count: 1 }, ended]);
  });
});

describe('custom logic', () => {
  async function scriptRule(device: TestDevice, connectorId: string, script: string) {
    const { organizationId, workspaceId } = world;
    const block = { organizationId, name: 'Block', script };
    const { id: customLogicId } = await world.must('POST', '/v3/rules/custom', block);
    return world.must('POST', '/v3/rules', {
      name: 'Script',
      workspaceId,
      inputs: [{ id: device.id, type: 'DEVICE' }],
      logic: {
        type: 'CUSTOM_LOGIC',
        dataSources: [temperatureOf(device.id)],
        customLogic: { customLogicId, actionIds: [connectorId] },
      },
      actions: [{ id: connectorId }],
    });
  }

  /** The list of alarms waits for scripts only so long; this waits for as many runs. */
  async function ran(rule: { readonly id: string }, runs: number): Promise<void> {
    const count = async () =>
      (await world.must('GET', `/v3/rules/${rule.id}/runs`)).totalElements as number;
    await expect.poll(count, { timeout: 60_000 }).toBe(runs);
  }

  test("emit('action', {alarm: 'clear'}) clears the alarm of the key, also one that waits for people", async () => {
    const device = await world.device();
    const script = `function consume(event) {
      const t = event.inputs.temperature;
      if (t > 20) emit('action', { zone: 'north', t });
      if (t < 0) emit('action', { alarm: 'clear', zone: 'north', reason: 'frost' });
    }`;
    const connector = await output({ clearWhen: 'NEVER', key: '{{result.zone}}', name: 'Zone' });
    const rule = await scriptRule(device, connector, script);
    await send(device, 30, 31, 10);
    await ran(rule, 3);
    await expect
      .poll(() => of(device))
      .toMatchObject([{ state: 'OPEN', key: 'north', count: 2, data: { zone: 'north', t: 31 } }]);
    await send(device, -1);
    await ran(rule, 4);
    await expect
      .poll(() => of(device))
      .toMatchObject([{ state: 'CLEARED', count: 2, cleared: { reason: 'frost', by: null } }]);
  });

  test('a run without an action is false; one that fails is not', async () => {
    const device = await world.device();
    const script = `function consume(event) {
      const t = event.inputs.temperature;
      if (t === 13) throw new Error('unlucky');
      if (t > 20) emit('action', {});
    }`;
    const rule = await scriptRule(device, await output(), script);
    await send(device, 30, 13);
    await ran(rule, 2);
    await expect
      .poll(() => of(device))
      .toMatchObject([{ state: 'OPEN', data: { temperature: 30 } }]);
    await send(device, 10);
    await ran(rule, 3);
    await expect
      .poll(() => of(device))
      .toMatchObject([{ state: 'CLEARED', cleared: { reason: 'RULE_FALSE' } }]);
  });
});

describe('time', () => {
  test('clearAfter clears without a further trigger; escalateAfter notifies once, unless acknowledged', async () => {
    const hook = await sink.action(world, 'time');
    const notify = ['ESCALATED', 'CLEARED'].map((on) => ({ on, outputConnectorId: hook }));
    const timed = { clearAfter: 'PT10M', escalateAfter: 'PT5M', notify };
    const [left, seen] = [await world.device({ name: 'left' }), await world.device()];
    for (const device of [left, seen]) {
      await hotRule(device, [[20, await output(timed)]]);
      await send(device, 30);
    }
    const { id } = await newest(seen);
    await world.must('POST', `/v3/alarms/${id}/acknowledge`, {});
    clockAheadMs += 6 * 60_000;
    expect(await sink.next('time')).toMatchObject({
      change: 'ESCALATED',
      device: { name: 'left' },
    });
    await expect
      .poll(() => of(left))
      .toMatchObject([{ state: 'OPEN', escalated: expect.any(String) }]);
    await send(left, 31);
    await expect.poll(() => of(left)).toMatchObject([{ count: 2 }]);
    clockAheadMs += 6 * 60_000;
    expect(await sink.next('time')).toMatchObject({ change: 'CLEARED', alarm: { id } });
    await expect.poll(() => of(left)).toMatchObject([{ state: 'OPEN' }]);
    clockAheadMs += 6 * 60_000;
    expect(await sink.next('time')).toMatchObject({
      change: 'CLEARED',
      alarm: { state: 'CLEARED', cleared: { reason: 'CLEAR_AFTER', by: null } },
      device: { name: 'left' },
    });
    expect(sink.left('time')).toEqual([]);
  });

  test('remindEvery notifies in its rhythm while the alarm is open, and not after an acknowledgement', async () => {
    const hook = await sink.action(world, 'reminders');
    const notify = [{ on: 'REMINDER', outputConnectorId: hook }];
    const device = await world.device({ name: 'forgotten' });
    await hotRule(device, [[20, await output({ remindEvery: 'PT10M', notify })]]);
    await send(device, 30);
    const { id } = await newest(device);
    clockAheadMs += 11 * 60_000;
    const reminder = await sink.next('reminders');
    expect(reminder).toMatchObject({ change: 'REMINDER', alarm: { id, state: 'OPEN', count: 1 } });
    // Two periods were missed: they are not made up for.
    clockAheadMs += 31 * 60_000;
    expect(await sink.next('reminders')).toMatchObject({ change: 'REMINDER', alarm: { id } });
    await world.must('POST', `/v3/alarms/${id}/acknowledge`, {});
    clockAheadMs += 60 * 60_000;
    await send(device, 10);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'CLEARED' }]);
    expect(sink.left('reminders')).toEqual([]);
  });

  test.each(['PT59S', 'P31D', 'P1M', 'hourly'])(
    'remindEvery %s is refused',
    async (remindEvery) => {
      const body = {
        name: 'bad',
        workspaceId: world.workspaceId,
        scope: 'RULE_ACTION',
        type: 'ALARM',
      };
      const alarmProperties = { name: 'x', severity: 'INFO', remindEvery };
      const refused = await world.call('POST', '/v3/output-connectors', {
        ...body,
        alarmProperties,
      });
      expect(refused).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('remindEvery') },
      });
    },
  );
});

describe('outputs are notified', () => {
  test('of each change that is wanted, in order; templates see the alarm', async () => {
    const customPayload = '{"what": {{change}}, "name": {{alarm.name}}, "t": {{data.temperature}}}';
    const hook = await sink.action(world, 'told', { useCustomPayload: true, customPayload });
    const notify = ['OPENED', 'ACKNOWLEDGED', 'CLEARED'].map((on) => ({
      on,
      outputConnectorId: hook,
    }));
    const device = await world.device({ name: 'Oven 2' });
    const connector = await output({ notify });
    await hotRule(device, [[20, connector]]);
    await send(device, 30, 31);
    await expect.poll(() => of(device)).toMatchObject([{ count: 2 }]);
    const { id } = await newest(device);
    await world.must('POST', `/v3/alarms/${id}/acknowledge`, {});
    await send(device, 10, 40);
    const name = 'Oven 2 is hot';
    expect(await sink.next('told')).toEqual({ what: 'OPENED', name, t: 30 });
    expect(await sink.next('told')).toEqual({ what: 'ACKNOWLEDGED', name, t: 31 });
    expect(await sink.next('told')).toEqual({ what: 'CLEARED', name, t: 31 });
    expect(await sink.next('told')).toEqual({ what: 'OPENED', name, t: 40 });
    const path = `/v3/output-connectors/${hook}/deliveries?sort=created,asc`;
    const deliveries = (await world.must('GET', path)).content as Record<string, unknown>[];
    expect(deliveries.map(({ alarmId, alarmChange }) => [alarmId === id, alarmChange])).toEqual([
      [true, 'OPENED'],
      [true, 'ACKNOWLEDGED'],
      [true, 'CLEARED'],
      [false, 'OPENED'],
    ]);
    const used = await world.call('DELETE', `/v3/output-connectors/${hook}`);
    expect(used).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(connector) },
    });
  });

  test('a test of the output shows the alarm and opens none', async () => {
    const device = await world.device({ name: 'Probe' });
    const connector = await output();
    await send(device, 1);
    const { payload, ...tried } = await world.must(
      'POST',
      `/v3/output-connectors/${connector}/test`,
      { deviceId: device.id },
    );
    expect(tried).toMatchObject({ ok: true });
    expect(JSON.parse(payload)).toEqual({
      name: 'Probe is hot',
      severity: 'MAJOR',
      key: `:${device.id}`,
    });
    expect(await of(device)).toEqual([]);
  });
});

describe('what an output of alarms cannot be', () => {
  const ids = { on: 'OPENED', outputConnectorId: '09ffffffffffffff' };
  test.each([
    ['a severity', { severity: 'HUGE' }, {}],
    ['a template', { name: '{{nothing.known}}' }, {}],
    ['a duration', { clearAfter: 'soon' }, {}],
    ['months', { escalateAfter: 'P1M' }, {}],
    ['a change', { notify: [{ ...ids, on: 'SEEN' }] }, {}],
    ['an unknown output', { notify: [ids] }, {}],
    ['an output of a data flow', {}, { scope: 'DATA_FLOW' }],
  ])('%s', async (_, properties, more) => {
    const body = {
      name: 'Alarm',
      workspaceId: world.workspaceId,
      type: 'ALARM',
      ...more,
      alarmProperties: { name: 'x', severity: 'MAJOR', ...properties },
    };
    expect((await world.call('POST', '/v3/output-connectors', body)).status).toBe(400);
  });

  test('it does not notify another output of alarms', async () => {
    const notify = [{ on: 'OPENED', outputConnectorId: await output() }];
    const body = {
      name: 'Alarm',
      workspaceId: world.workspaceId,
      type: 'ALARM',
      alarmProperties: { name: 'x', severity: 'MAJOR', notify },
    };
    expect((await world.call('POST', '/v3/output-connectors', body)).status).toBe(400);
  });
});

test('an alarm ends with its rule, shows it and its device afterwards, and goes with its workspace', async () => {
  const { organizationId } = world;
  const workspace = await world.must('POST', '/v3/workspaces', { name: 'Brief', organizationId });
  const brief = alarmRules(world, workspace.id);
  const device = await world.device({ name: 'Gone', workspaceId: workspace.id });
  const connector = await brief.output();
  const rule = await brief.hotRule(device, [[20, connector]]);
  await send(device, 30);
  await expect.poll(() => brief.of(device)).toHaveLength(1);
  const [alarm] = await brief.of(device);
  const path = `/v3/alarms/${alarm!.id}`;
  await world.must('DELETE', `/v3/rules/${rule.id}`);
  await expect.poll(() => brief.of(device)).toMatchObject([{ state: 'CLEARED' }]);
  await world.must('DELETE', `/v3/devices/${device.id}`);
  await world.must('DELETE', `/v3/output-connectors/${connector}`);
  expect(await world.must('GET', path)).toMatchObject({
    name: 'Gone is hot',
    state: 'CLEARED',
    rule: { id: rule.id, name: 'Too hot' },
    device: { id: device.id, name: 'Gone' },
    cleared: { by: null, reason: 'RULE_DELETED' },
  });
  await world.must('DELETE', `/v3/data-flows/${device.dataFlowId}`);
  await world.must('DELETE', `/v3/device-connectors/${device.connectorId}`);
  await world.must('DELETE', `/v3/workspaces/${workspace.id}`);
  expect((await world.call('GET', path)).status).toBe(404);
});

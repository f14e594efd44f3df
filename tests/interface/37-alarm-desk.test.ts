// Contract 37: what people do to alarms, and how they find them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AlarmRules, alarmRules } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let clockAheadMs = 0;
let { output, hotRule, send, of, newest } = {} as AlarmRules;
beforeAll(async () => {
  world = await startWorld({ now: () => Date.now() + clockAheadMs });
  ({ output, hotRule, send, of, newest } = alarmRules(world));
});
afterAll(() => world.close());

describe('people', () => {
  let device: TestDevice;
  let id: string;
  const post = (tail: string, body?: object) => world.call('POST', `/v3/alarms/${tail}`, body);
  beforeAll(async () => {
    device = await world.device({ name: 'Freezer' });
    await hotRule(device, [[20, await output()]]);
    await send(device, 30);
    ({ id } = await newest(device));
  });

  test('acknowledge, comment and clear, each once, with who did it; a cleared alarm is not acknowledged', async () => {
    const by = { type: 'API_KEY', id: expect.any(String), name: expect.any(String) };
    const acknowledged = await post(`${id}/acknowledge`);
    expect(acknowledged).toMatchObject({
      status: 200,
      body: { state: 'ACKNOWLEDGED', acknowledged: { by, at: expect.any(String) }, version: 1 },
    });
    expect((await post(`${id}/acknowledge`)).body).toEqual(acknowledged.body);
    const commented = await post(`${id}/comments`, { text: 'On my way' });
    expect(commented).toMatchObject({
      status: 201,
      body: { comments: [{ text: 'On my way', by }] },
    });
    await send(device, 31);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'ACKNOWLEDGED', count: 2 }]);
    const cleared = await post(`${id}/clear`, { reason: 'door closed' });
    expect(cleared).toMatchObject({
      status: 200,
      body: { state: 'CLEARED', cleared: { by, reason: 'door closed' }, comments: [{}] },
    });
    expect((await post(`${id}/clear`)).body).toEqual(cleared.body);
    expect(await post(`${id}/acknowledge`)).toMatchObject({
      status: 409,
      body: { errorCode: '40974_ALARM_CLEARED' },
    });
    expect((await post('2200000000000000/acknowledge')).status).toBe(404);
    expect((await post(`${id}/comments`, { text: '' })).status).toBe(400);
    expect((await post(`${id}/comments`, { text: 'x'.repeat(2_001) })).status).toBe(400);
    await send(device, 32);
    await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN', count: 1 }, { id }]);
  });

  test('a comment that is repeated with its Idempotency-Key is one comment', async () => {
    const other = await newest(device);
    const comment = () =>
      world.call(
        'POST',
        `/v3/alarms/${other.id}/comments`,
        { text: 'Once' },
        { 'idempotency-key': 'comment-1' },
      );
    expect(await comment()).toMatchObject({ status: 201, body: { comments: [{ text: 'Once' }] } });
    expect(await comment()).toMatchObject({ status: 201, body: { comments: [{ text: 'Once' }] } });
  });

  test('the processing log of the device has when they opened and ended', async () => {
    const { content } = await world.must('GET', `/v3/devices/${device.id}/processing-logs`);
    const messages = content.map(({ message }: { message: string }) => message);
    expect(messages.filter((message: string) => message.includes('alarm'))).toEqual([
      'Rule Too hot: alarm Freezer is hot opened',
      'Rule Too hot: alarm Freezer is hot cleared: door closed',
      'Rule Too hot: alarm Freezer is hot opened',
    ]);
    expect(messages.filter((message: string) => message.includes('fired'))).toEqual([]);
  });

  test('the audit log has what they did', async () => {
    const { content } = await world.must(
      'GET',
      `/v3/audit-logs?resourceType=ALARM&resourceId=${id}`,
    );
    const fields = content.map((entry: { changes: { field: string }[] }) =>
      entry.changes.map(({ field }) => field).filter((field) => !/By$|At$/.test(field)),
    );
    expect(fields).toEqual([['state', 'clearReason'], ['comments'], ['state']]);
    expect(content[2].changes).toContainEqual({
      field: 'state',
      before: 'OPEN',
      after: 'ACKNOWLEDGED',
    });
  });

  test('bulk: by ids and by a filter; what cannot be done is refused with its reason', async () => {
    const devices = [await world.device(), await world.device(), await world.device()];
    for (const one of devices) {
      await hotRule(one, [[20, await output({ severity: 'INFO' })]]);
      await send(one, 30);
    }
    const ids = (await Promise.all(devices.map((one) => of(one)))).flatMap((alarms) =>
      alarms.map((alarm) => alarm.id),
    );
    const missing = '22ffffffffffffff';
    await post(`${ids[0]}/clear`);
    expect(await post('bulk', { action: 'ACKNOWLEDGE', ids: [...ids, missing] })).toMatchObject({
      status: 200,
      body: {
        changed: 2,
        refused: [
          { id: missing, errorCode: '40400_NOT_FOUND', reason: `No alarm with id ${missing}` },
          {
            id: ids[0],
            errorCode: '40974_ALARM_CLEARED',
            reason: `Alarm ${ids[0]} is already cleared`,
          },
        ],
      },
    });
    const filter = { workspaceId: world.workspaceId, severity: ['INFO'], deviceId: devices[1]!.id };
    const clear = { action: 'CLEAR', reason: 'drill', filter };
    expect((await post('bulk', clear)).body).toEqual({ changed: 1, refused: [] });
    expect((await post('bulk', clear)).body).toEqual({ changed: 0, refused: [] });
    await expect
      .poll(() => of(devices[1]!))
      .toMatchObject([{ state: 'CLEARED', cleared: { reason: 'drill' }, acknowledged: {} }]);
    expect((await post('bulk', { action: 'CLEAR' })).status).toBe(400);
    expect((await post('bulk', { action: 'CLEAR', ids, filter })).status).toBe(400);
    expect((await post('bulk', { action: 'OPEN', ids })).status).toBe(400);
  });
});

describe('lists', () => {
  let device: TestDevice;
  const list = async (query: string) => {
    const path = `/v3/alarms?workspaceId=${world.workspaceId}&deviceId=${device.id}&${query}`;
    const { content, totalElements } = await world.must('GET', path);
    return [totalElements, ...content.map(({ key }: { key: string }) => key)];
  };
  let middle: string;
  beforeAll(async () => {
    device = await world.device({ name: 'Cellar 12' });
    const by = (severity: string) =>
      output({ severity, key: '{{data.k}}', name: 'Level of {{data.k}}', clearWhen: 'NEVER' });
    await hotRule(device, [[20, await by('MINOR')]]);
    await hotRule(device, [[50, await by('CRITICAL')]]);
    await world.capture(device, { temperature: 30, k: 'pump' });
    await newest(device, 'pump');
    clockAheadMs += 1_000;
    await world.capture(device, { temperature: 60, k: 'Valve' });
    ({ lastTriggered: middle } = await newest(device, 'Valve'));
    clockAheadMs += 1_000;
    await world.capture(device, { temperature: 30, k: 'drain' });
    const drain = await newest(device, 'drain');
    await world.must('POST', `/v3/alarms/${drain.id}/clear`, {});
  });

  test.each([
    ['', [3, 'drain', 'Valve', 'pump']],
    ['sort=firstTriggered,asc', [3, 'pump', 'Valve', 'drain']],
    ['sort=severity,desc&size=1', [3, 'Valve']],
    ['page=1&size=2', [3, 'pump']],
    ['state=OPEN', [2, 'Valve', 'pump']],
    ['state=OPEN,CLEARED&severity=minor', [2, 'drain', 'pump']],
    ['severity=CRITICAL', [1, 'Valve']],
    ['search=LEVEL of v', [1, 'Valve']],
    ['search=cellar', [3, 'drain', 'Valve', 'pump']],
    ['search=nothing', [0]],
    ['ruleId=21ffffffffffffff', [0]],
  ])('%s', async (query, expected) => {
    expect(await list(query)).toEqual(expected);
  });

  test('contract 39.5: openAt has those that were triggered and not cleared at that moment', async () => {
    const { id } = await newest(device, 'drain');
    const { firstTriggered, cleared } = await world.must('GET', `/v3/alarms/${id}`);
    const before = (text: string) => new Date(Date.parse(text) - 1).toISOString();
    expect(await list(`openAt=${middle}`)).toEqual([2, 'Valve', 'pump']);
    expect(await list(`openAt=${before(middle)}`)).toEqual([1, 'pump']);
    expect(await list(`openAt=${firstTriggered}`)).toEqual([3, 'drain', 'Valve', 'pump']);
    expect(await list(`openAt=${before(cleared.at)}&severity=MINOR`)).toEqual([2, 'drain', 'pump']);
    expect(await list(`openAt=${cleared.at}`)).toEqual([2, 'Valve', 'pump']);
    expect(await list('openAt=2020-01-01T01:00:00+01:00')).toEqual([0]);
    const wrong = await world.call('GET', '/v3/alarms?openAt=noon');
    expect(wrong).toMatchObject({ status: 400 });
    expect(wrong.body.message).toContain('openAt');
  });

  test('from and to compare the last trigger, half-open', async () => {
    expect(await list(`from=${middle}`)).toEqual([2, 'drain', 'Valve']);
    expect(await list(`to=${middle}`)).toEqual([1, 'pump']);
  });

  test('what cannot be asked is a 400', async () => {
    for (const query of ['state=SHUT', 'severity=9', 'from=now', 'sort=key', 'size=1001'])
      expect((await world.call('GET', `/v3/alarms?${query}`)).status, query).toBe(400);
  });
});

// Contract 42 and clocks: what is due by time goes on when the clock steps, and the platform's own downtime is no silence.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alarmRules, temperatureOf } from '../world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const second = 1_000;
const day = 86_400 * second;
const waits = { timeout: 60_000, interval: 50 };

/** Custom logic that compares the time of the last sample, or the start of the platform. */
function silenceScript(seconds: number): string {
  return `function consume(event) {
    const last = event.dataSources['1'];
    const heard = Math.max(Date.parse(last.timestamp ?? 0), Date.parse(event.platformStart));
    const silent = (Date.parse(event.timestamp) - heard) / 1000;
    if (silent > ${seconds}) emit('action', { seconds: Math.round(silent) });
    else emit('action', { alarm: 'clear', reason: 'it sends again' });
  }`;
}

async function silenceRule(world: World, device: TestDevice, seconds: number) {
  const block = await world.must('POST', '/v3/rules/custom', {
    organizationId: world.organizationId,
    name: 'Silence',
    script: silenceScript(seconds),
    dataSources: [
      {
        name: 'Any',
        variableName: 'any',
        defaultTopic: 'default',
        defaultDataKey: '*',
        lastSample: false,
        triggerOnUplink: false,
      },
    ],
    properties: [],
  });
  const connector = await alarmRules(world).output({ name: 'Silent' });
  const dataSources = [{ ...temperatureOf(device.id), dataKey: '*', triggerOnUplink: false }];
  const customLogic = { customLogicId: block.id, actionIds: [connector], properties: [] };
  const rule = await world.must('POST', '/v3/rules', {
    name: 'Silence',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    timer: { enabled: true, schedule: 'PT10S', type: 'INTERVAL' },
    logic: { type: 'CUSTOM_LOGIC', dataSources, customLogic },
    actions: [{ id: connector }],
  });
  return rule as { readonly id: string; readonly nextExecution: string };
}

async function outcomesOf(world: World, ruleId: string): Promise<string[]> {
  const { content } = await world.must('GET', `/v3/rules/${ruleId}/runs`);
  return content.map(({ outcome }: { readonly outcome: string }) => outcome);
}

test('behaviour 5: the downtime of the platform is no silence of its devices', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-silence-'));
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  let world = await startWorld({ directory, now });
  try {
    const device = await world.device();
    const rule = await silenceRule(world, device, 20);
    await world.capture(device, { temperature: 1 });
    await world.close();
    aheadMs += 28 * second;
    world = await startWorld({ directory, now });
    const newest = async () => (await outcomesOf(world, rule.id))[0];
    await expect.poll(newest, waits).toBe('NOT_FIRED');
    expect(await alarmRules(world).of(device)).toEqual([]);
    aheadMs += 40 * second;
    await expect.poll(newest, waits).toBe('FIRED');
  } finally {
    await world.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test.each([-5 * second, -day, -2 * 365 * day])(
  'behaviour 7: timed rules and escalations go on after the clock stepped by %d ms',
  async (step) => {
    let aheadMs = 0;
    const world = await startWorld({ now: () => Date.now() + aheadMs });
    try {
      const device = await world.device();
      const { output, hotRule, send, of } = alarmRules(world);
      const rule = await silenceRule(world, device, 3_600);
      await hotRule(device, [[20, await output({ escalateAfter: 'PT1H' })]]);
      await send(device, 30);
      await expect.poll(() => of(device)).toMatchObject([{ state: 'OPEN', escalated: null }]);
      aheadMs += step;
      const next = async () => {
        const { nextExecution } = await world.must('GET', `/v3/rules/${rule.id}`);
        return Date.parse(nextExecution) - Date.now() - aheadMs;
      };
      await expect.poll(next, waits).toBeLessThan(21 * second);
      const runs = (await outcomesOf(world, rule.id)).length;
      aheadMs += 30 * second;
      await expect
        .poll(async () => (await outcomesOf(world, rule.id)).length, waits)
        .toBeGreaterThan(runs);
      aheadMs += 3_600 * second;
      await expect
        // The silence of the device may have opened another one by then.
        .poll(() => of(device), waits)
        .toContainEqual(expect.objectContaining({ state: 'OPEN', escalated: expect.any(String) }));
    } finally {
      await world.close();
    }
  },
);

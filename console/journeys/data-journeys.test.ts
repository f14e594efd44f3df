// What people ask of their data, whole: bytes of a meter, consumption by day, cold rooms, and what is unusual.
import { expect, test } from 'vitest';
import { alarmRules } from '../../tests/world/alarm-rules.ts';
import { type MqttWorld, startMqttWorld, upTopic } from '../../tests/world/mqtt-world.ts';
import type { TestDevice } from '../../tests/world/world.ts';
import { journey } from './journey.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A codec as LoRaWAN networks and their device catalogues have them. */
const codec = `function decodeUplink({ bytes }) {
  return { data: { total: bytes[0] * 256 + bytes[1], state: bytes[2] } };
}`;

let energy: TestDevice;
let cold: TestDevice;
let heating: TestDevice;

journey('data, from question to answer', { start: startMqttWorld, prepare }, (stage) => {
  test('a meter sends three bytes: all are there, also from before the encoding was chosen', async () => {
    const { page, world } = stage;
    const meter = await world.mqttDevice({ script: codec });
    const { dataFlow } = await world.must('GET', `/v3/devices/${meter.id}`);
    const client = await world.client(meter);
    const send = (...bytes: number[]) =>
      client.publishAsync(upTopic(meter), Buffer.from(bytes), { qos: 1 });
    await send(1, 2, 255);
    await stage.visit(`types/${dataFlow.deviceType.id}/use`);
    await page.getByLabel('Payload format').selectOption('Bytes');
    await page.getByText('Encoding saved').waitFor();
    await send(1, 3, 255);
    await stage.visit(`devices/${meter.id}/uplinks`);
    await page.getByText('01 03 ff').first().waitFor();
    await expect
      .poll(() => world.samples(meter))
      .toMatchObject([{ data: { total: 258 } }, { data: { total: 259 } }]);
    await page.getByText('01 02 ff').first().click();
    await page.getByRole('button', { name: 'Decode again' }).click();
    await page.getByText('"total": 258').first().waitFor();
  });

  test('a tile shows the consumption by day of a meter that was replaced and answered 0', async () => {
    const { page, world } = stage;
    const body = { name: 'Energy', workspaceId: world.workspaceId, config: {} };
    const { id } = await world.must('POST', '/v3/dashboards', body);
    await stage.visit(`dashboards/${id}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Add tile' }).first().click();
    await page.getByLabel('Visualization').selectOption('Bar chart');
    await page.getByLabel('Title').fill('Consumption');
    await page.getByRole('combobox', { name: 'Device' }).fill('Energy');
    await page.getByRole('option', { name: /Energy meter/ }).click();
    await page.getByLabel('Data key').selectOption('energy');
    await page.getByLabel('Aggregation').selectOption({ label: 'Increase (counter)' });
    await page.getByLabel('Bucket size').selectOption('1 d');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('region', { name: 'Consumption', exact: true }).waitFor();
    await stage.save('/v3/dashboards/');
    await stage.inspect('consumption');
    const now = Date.now();
    const interval = {
      from: new Date(now - 60 * dayMs).toISOString(),
      to: new Date(now).toISOString(),
    };
    const { kpi } = await world.must('POST', `/v3/devices/${energy.id}/query/raw/kpi`, {
      topic: 'default',
      dataKey: 'energy',
      accumulator: 'INCREASE',
      interval,
    });
    expect(kpi).toBe(consumed);
  });

  test('cold rooms have one rule, which waits, ends below another limit, and reminds', async () => {
    const { page, world } = stage;
    await stage.visit('rules/new');
    await page.getByLabel('Name', { exact: true }).fill('Cold rooms');
    await page.getByRole('button', { name: 'Add device, tag, or place' }).click();
    await page.getByRole('combobox', { name: 'Device' }).fill('Cold room 1');
    await page.getByRole('option', { name: /Cold room 1/ }).click();
    await page.getByRole('button', { name: /Select a data key/ }).click();
    await page.getByLabel('Data key').fill('temperature');
    await page.getByLabel('Value', { exact: true }).fill('8');
    await page.getByLabel('For (minutes)').fill('15');
    await page.getByLabel('Until it is below').fill('6');
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Add action' }).click();
    await page.getByLabel('Output', { exact: true }).selectOption({ label: 'Too warm · Alarm' });
    const said = 'temperature is above 8 for 15 min (until it is below 6)';
    await page.getByText(`When Cold room 1 reports that ${said}, raise an alarm.`).waitFor();
    await page.getByRole('button', { name: /Too warm/ }).click();
    await page.getByText('Reminds every 1 h until acknowledged').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('heading', { level: 1, name: 'Cold rooms' }).waitFor();
    const alarms = alarmRules(world);
    const start = Date.now() - 50 * minuteMs;
    const send = (minute: number, temperature: number) =>
      world.must('POST', '/v3/samples/bulk', [
        {
          deviceId: cold.id,
          timestamp: new Date(start + minute * minuteMs).toISOString(),
          data: { temperature },
        },
      ]);
    await send(0, 9);
    await send(14, 9);
    expect(await alarms.of(cold)).toEqual([]);
    await send(16, 9);
    await stage.visit('alarms');
    await page.getByText('Cold room 1 is too warm').first().waitFor();
    const state = async () => (await alarms.of(cold))[0];
    await send(18, 7);
    await send(20, 7);
    expect(await state()).toMatchObject({ state: 'OPEN' });
    await send(22, 5);
    await expect.poll(state).toMatchObject({ state: 'CLEARED' });
  });

  test('heating has a band of what is usual, and a rule for one hour outside of it', async () => {
    const { page } = stage;
    const to = Math.floor(Date.now() / hourMs) * hourMs;
    const [from, until] = [to - 7 * dayMs, to].map((at) => new Date(at).toISOString());
    const keys = encodeURIComponent(JSON.stringify(['supply']));
    await stage.visit(
      `devices/${heating.id}/explore?keys=${keys}&from=${from}&to=${until}&bucket=PT1H`,
    );
    const asked = page.waitForResponse(/query\/expected/);
    await page.getByLabel('Expected range').selectOption({ label: 'High sensitivity' });
    expect((await (await asked).json()).method).toBe('HOUR_OF_WEEK');
    await stage.inspect('heating');
    await stage.visit('rules/new');
    await page.getByLabel('Name', { exact: true }).fill('Unusual heating');
    await page.getByRole('button', { name: 'Add device, tag, or place' }).click();
    await page.getByRole('combobox', { name: 'Device' }).fill('Heating');
    await page.getByRole('option', { name: /Heating/ }).click();
    await page.getByRole('button', { name: /Select a data key/ }).click();
    await page.getByLabel('Compare', { exact: true }).selectOption('Unusual value');
    await page.getByLabel('Data key').fill('supply');
    await page.getByLabel('For (minutes)').fill('60');
    await page.getByText('When Heating reports that supply is unusual for 1 h').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('heading', { level: 1, name: 'Unusual heating' }).waitFor();
  });
});

let consumed = 0;

async function prepare(world: MqttWorld): Promise<void> {
  energy = await world.device({ name: 'Energy meter' });
  cold = await world.device({ name: 'Cold room 1' });
  heating = await world.device({ name: 'Heating' });
  const now = Math.floor(Date.now() / hourMs) * hourMs;
  const rows = [];
  let counter = 1_000;
  for (let hour = 40 * 24; hour > 0; hour--) {
    const isReplaced = hour === 20 * 24;
    const isZero = hour === 30 * 24 || hour === 10 * 24;
    if (isReplaced) counter = 0;
    else {
      counter += 2;
      if (hour < 40 * 24) consumed += 2;
    }
    rows.push({
      deviceId: energy.id,
      timestamp: new Date(now - hour * hourMs).toISOString(),
      data: { energy: isZero ? 0 : counter },
    });
  }
  for (let hour = 35 * 24; hour > 0; hour--)
    rows.push({
      deviceId: heating.id,
      timestamp: new Date(now - hour * hourMs).toISOString(),
      data: { supply: 50 + 10 * Math.sin((hour / 12) * Math.PI) + ((hour * 7_919) % 13) / 10 },
    });
  await alarmRules(world).output(
    { name: '{{device.name}} is too warm', remindEvery: 'PT1H' },
    { name: 'Too warm' },
  );
  await world.capture(cold, { temperature: 4 });
  for (let at = 0; at < rows.length; at += 500)
    await world.must('POST', '/v3/samples/bulk', rows.slice(at, at + 500));
}

// More pages of a device in a real browser: exploration, commands over MQTT, settings and deletion.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { downTopic, type MqttWorld, startMqttWorld } from '../../tests/world/mqtt-world.ts';
import type { TestDevice } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

let device: TestDevice;
let other: TestDevice;

async function prepare(world: MqttWorld): Promise<void> {
  device = await world.device({ name: 'Room 1' });
  other = await world.device({ name: 'Room 2' });
  const now = Date.now();
  const samples = [device, other].flatMap(({ id }, d) =>
    Array.from({ length: 30 }, (_, at) => ({
      deviceId: id,
      timestamp: new Date(now - at * 600_000).toISOString(),
      data: { temperature: 20 + d + at / 10, humidity: 40 + at },
    })),
  );
  await world.must('POST', '/v3/samples/bulk', samples);
  await world.must('POST', '/v3/tags', { name: 'Basel', workspaceId: world.workspaceId });
}

/** Its device type gets an encoder, and an example with which the encoder is tested. */
async function giveEncoder(world: MqttWorld, deviceId: string): Promise<void> {
  const { dataFlow } = await world.must('GET', `/v3/devices/${deviceId}`);
  const code = "function consume({ payload }) { emit('downlink', { topic: 'set', payload }); }";
  const event = { payload: { open: true }, port: 1, confirmed: false };
  await world.must('PUT', `/v3/device-types/${dataFlow.deviceType.id}`, {
    downlinkScript: { code },
    sampleData: [{ name: 'Open it', part: 'downlinkScript', event, emits: [] }],
  });
}

journey('device pages', { start: startMqttWorld, prepare }, (stage) => {
  const pathOf = (id: string, page: string) => `devices/${id}/${page}`;

  test('draws a formula beside its values, and says where one is wrong', async () => {
    const { page } = stage;
    await stage.visit(pathOf(device.id, 'explore'));
    const formula = page.getByLabel('Formula', { exact: true });
    await formula.fill('temperature * foo(2)');
    await page.getByRole('button', { name: 'Draw formula' }).click();
    await page.getByText('Unknown function foo').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await formula.fill('temperature * 9 / 5 + 32');
    await formula.press('Enter');
    await page.getByRole('columnheader', { name: 'temperature * 9 / 5 + 32' }).waitFor();
    await page.getByRole('columnheader', { name: 'temperature', exact: true }).waitFor();
    await page.getByText('"expression"').first().waitFor();
    expect(new URL(page.url()).searchParams.get('formula')).toBe('temperature * 9 / 5 + 32');
    await page.getByRole('button', { name: 'Add to dashboard' }).click();
    await page.getByLabel('Dashboard name').fill('Formula');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Formula' }).waitFor();
    await page.getByText('temperature * 9 / 5 + 32').first().waitFor();
  });

  test('explores two values of two devices and exports what is shown', async () => {
    const { page } = stage;
    await stage.visit(pathOf(device.id, 'explore'));
    await page.getByLabel('humidity').check();
    await page.getByRole('button', { name: 'Add device to chart' }).click();
    await page.getByRole('button', { name: 'Room 2' }).click();
    await page.getByRole('columnheader', { name: 'Room 2 · humidity' }).waitFor();
    await page.getByText(/bucket size \(2 min\) is shorter than one hour/).waitFor();
    await page.getByLabel('Bucket size', { exact: true }).selectOption('PT1H');
    await page.getByText(/bucket size \(1 h\) is at least one hour/).waitFor();
    await page.getByLabel('Aggregation').selectOption('MAX');
    await page.getByRole('button', { name: 'Python' }).click();
    await page.getByText('"MAX"').first().waitFor();
    await page.getByLabel('Compare with previous period').check();
    await page.getByRole('columnheader', { name: 'Previous Room 2 · humidity' }).waitFor();
    await stage.inspect('device-explore');
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: /^CSV/ }).click();
    const download = await waiting;
    const csv = readFileSync(await download.path(), 'utf8');
    expect(csv.split('\r\n')[0]).toContain('Room 1 · temperature');
    expect(page.url()).toContain('acc=MAX');
    await page.getByRole('button', { name: 'Add to dashboard' }).click();
    await page.getByLabel('Dashboard name').fill('Two rooms');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Two rooms' }).waitFor();
    await page.getByText('Room 2 · humidity').first().waitFor();
  });

  test('a device over HTTP takes no commands', async () => {
    const { page } = stage;
    await stage.visit(pathOf(device.id, 'commands'));
    await page.getByText("HTTP devices can't receive commands").waitFor();
    await stage.inspect('device-commands');
  });

  test('a command over MQTT is queued, then sent and acknowledged', async () => {
    const { page } = stage;
    const valve = await stage.world.mqttDevice({ script: 'function consume() {}' });
    await giveEncoder(stage.world, valve.id);
    await stage.visit(pathOf(valve.id, 'commands'));
    await page.getByText('No commands yet').waitFor();
    await page.getByLabel('Example').waitFor();
    const command = page.getByLabel('Command (JSON)');
    await expect.poll(() => command.inputValue()).toBe('{\n  "open": true\n}');
    await command.fill('{ "open": }');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText(/Invalid JSON/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Example').selectOption('Open it');
    await page.getByLabel('Topic').fill('set');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const sent = page.getByRole('list', { name: 'Command history' });
    await sent.getByText('{"open":true}').waitFor();
    const step = sent.locator('[aria-current=step]');
    await expect.poll(() => step.innerText()).toBe('Queued');
    const client = await stage.world.client(valve);
    const arrived = new Promise<string>((resolve) => {
      client.once('message', (_topic, payload) => resolve(payload.toString()));
    });
    await client.subscribeAsync(downTopic(valve), { qos: 1 });
    expect(JSON.parse(await arrived)).toEqual({ open: true });
    await step.getByText('Acknowledged').waitFor();
    await stage.inspect('device-commands-mqtt');
  });

  test('edits are kept, warned of and saved, and a device is deleted', async () => {
    const { page } = stage;
    await stage.visit(pathOf(device.id, 'settings'));
    await page.getByLabel('Name', { exact: true }).fill('Room 1b');
    await page.getByLabel('Basel').check();
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await page.getByRole('link', { name: 'Live' }).click();
    const warning = page.getByRole('dialog', { name: 'Leave without saving?' });
    await warning.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL(/\/live/);
    // The address changes before the page does.
    await page.getByLabel('Time zone').waitFor({ state: 'detached' });
    const tabs = page.getByRole('navigation', { name: 'Device tabs' });
    await tabs.getByRole('link', { name: 'Settings' }).click();
    await page.getByText(/Unsaved changes restored/).waitFor();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Room 1b');
    await stage.inspect('device-settings');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Room 1b', level: 1 }).waitFor();
    const saved = await stage.world.must('GET', `/v3/devices/${device.id}`);
    expect(saved.properties).toEqual({ timeZone: 'Asia/Tokyo' });
    expect(saved.tags.map(({ name }: { name: string }) => name)).toEqual(['Basel']);
    await page.getByRole('button', { name: 'Delete device' }).click();
    await page.getByLabel('Type “Room 1b” to confirm').fill('Room 1b');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForURL(/\/devices$/);
    expect((await stage.world.call('GET', `/v3/devices/${device.id}`)).status).toBe(404);
  });
});

// More pages of a device in a real browser: exploration, commands over MQTT, settings and deletion.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../tests/servers/server-tests.ts';
import { downTopic, type MqttWorld, startMqttWorld } from '../../tests/world/mqtt-world.ts';
import type { TestDevice } from '../../tests/world/world.ts';
import { axeFindings, type Browser, chromiumProgram, openBrowser, signIn } from './chromium.ts';

describeWith(chromiumProgram, 'device pages', () => {
  let world: MqttWorld;
  let browser: Browser;
  let device: TestDevice;
  let other: TestDevice;

  beforeAll(async () => {
    world = await startMqttWorld();
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
    browser = await openBrowser(world.base);
    browser.page.setDefaultTimeout(12_000);
    await signIn(browser.page, world.base);
  });
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await world.close();
  });

  const address = (id: string, page: string) =>
    `${world.base}/w/${world.workspaceId}/devices/${id}/${page}`;
  const look = async (name: string) => {
    const { page } = browser;
    for (const theme of ['dark', 'light']) {
      await page.evaluate((chosen) => {
        document.documentElement.dataset['theme'] = chosen;
        dispatchEvent(new Event('themechange'));
      }, theme);
      if (process.env['PICTURES'] !== undefined)
        await page.screenshot({ path: `.tmp/${name}-${theme}.png`, fullPage: true });
      expect(await axeFindings(page)).toEqual([]);
    }
  };

  test('explores two values of two devices and exports what is shown', async () => {
    const { page } = browser;
    await page.goto(address(device.id, 'explore'));
    await page.getByLabel('humidity').check();
    await page.getByRole('button', { name: 'Add a device' }).click();
    await page.getByRole('button', { name: 'Room 2' }).click();
    await page.getByRole('columnheader', { name: 'Room 2 · humidity' }).waitFor();
    await page.getByText(/buckets of PT2M are shorter than an hour/).waitFor();
    await page.getByLabel('Bucket', { exact: true }).selectOption('PT1H');
    await page.getByText(/buckets of PT1H are whole hours/).waitFor();
    await page.getByLabel('Per bucket').selectOption('MAX');
    await page.getByRole('button', { name: 'Python' }).click();
    await page.getByText('"MAX"').first().waitFor();
    await look('device-explore');
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: /^CSV/ }).click();
    const download = await waiting;
    const csv = readFileSync(await download.path(), 'utf8');
    expect(csv.split('\r\n')[0]).toContain('Room 1 · temperature');
    expect(page.url()).toContain('acc=MAX');
  });

  test('a device over HTTP takes no commands', async () => {
    const { page } = browser;
    await page.goto(address(device.id, 'commands'));
    await page.getByText('Devices over HTTP take no commands').waitFor();
    await look('device-commands');
  });

  test('a command over MQTT is queued, then sent and acknowledged', async () => {
    const { page } = browser;
    const valve = await world.mqttDevice();
    await page.goto(address(valve.id, 'commands'));
    await page.getByText('No command was sent yet').waitFor();
    await page.getByLabel('Command as JSON').fill('{ "open": }');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText(/This is not JSON/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Command as JSON').fill('{ "open": true }');
    await page.getByLabel('Topic').fill('set');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const sent = page.getByRole('list', { name: 'Sent commands' });
    await sent.getByText('{"open":true}').waitFor();
    const step = sent.locator('[aria-current=step]');
    expect(await step.innerText()).toBe('Queued');
    const client = await world.client(valve);
    const arrived = new Promise<string>((resolve) => {
      client.once('message', (_topic, payload) => resolve(payload.toString()));
    });
    await client.subscribeAsync(downTopic(valve), { qos: 1 });
    expect(JSON.parse(await arrived)).toEqual({ open: true });
    await step.getByText('Acknowledged').waitFor();
    await look('device-commands-mqtt');
  });

  test('edits are kept, warned of and saved, and a device is deleted', async () => {
    const { page } = browser;
    await page.goto(address(device.id, 'settings'));
    await page.getByLabel('Name', { exact: true }).fill('Room 1b');
    await page.getByLabel('Basel').check();
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await page.getByRole('link', { name: 'Live' }).click();
    const warning = page.getByRole('dialog', { name: 'Leave without saving?' });
    await warning.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL(/\/live/);
    await page.getByRole('link', { name: 'Settings' }).last().click();
    await page.getByText(/Your changes from before are back/).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Room 1b');
    await look('device-settings');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Room 1b', level: 1 }).waitFor();
    const saved = await world.must('GET', `/v3/devices/${device.id}`);
    expect(saved.properties).toEqual({ timeZone: 'Asia/Tokyo' });
    expect(saved.tags.map(({ name }: { name: string }) => name)).toEqual(['Basel']);
    await page.getByRole('button', { name: 'Delete this device' }).click();
    await page.getByLabel('Type “Room 1b” to confirm').fill('Room 1b');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForURL(/\/devices$/);
    expect((await world.call('GET', `/v3/devices/${device.id}`)).status).toBe(404);
  });
});

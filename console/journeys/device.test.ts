// Device in a real browser: values, chart, live samples, a cut connection, and its first reading.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { type Cable, layCable } from './cable.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const schema = {
  type: 'object',
  properties: {
    temperature: { title: 'Temperature', type: 'number', unit: '°C' },
    humidity: { title: 'Humidity', type: 'number', unit: '%' },
  },
};
const script = `function consume(event) {
  if (event.data.temperature === 'warm') throw new Error('The temperature is not a number');
  emit('sample', { data: event.data, topic: 'default' });
}`;
const minuteMs = 60_000;

let cable: Cable;
let device: TestDevice;
let quiet: TestDevice;

async function prepare(world: World): Promise<void> {
  device = await world.device({
    name: 'Room 1',
    script,
    schemas: { default: JSON.stringify(schema) },
  });
  quiet = await world.device({ name: 'Attic' });
  const now = Date.now();
  const samples = Array.from({ length: 240 }, (_, at) => ({
    deviceId: device.id,
    timestamp: new Date(now - (at + 5) * 6 * minuteMs).toISOString(),
    data: { temperature: 20 + Math.sin(at / 12) * 3, humidity: 40 + (at % 9), mode: 'auto' },
  }));
  // Two hours of silence, which must stay a gap.
  await world.must(
    'POST',
    '/v3/samples/bulk',
    samples.filter((_, at) => at < 60 || at > 80),
  );
  await world.capture(device, { temperature: 21.5, humidity: 44, mode: 'auto' });
}

/** The browser reaches the platform through a cable that can be cut. */
async function base(world: World): Promise<string> {
  cable = await layCable(world.base);
  return cable.base;
}

/** Presses the button, or the console was faster. */
async function reconnect(page: Page): Promise<void> {
  await Promise.any([
    page.getByRole('button', { name: 'Retry now' }).click(),
    page.getByText(/Connection lost at/).waitFor({ state: 'hidden' }),
  ]);
}

journey('device', { start: startWorld, prepare, base, close: () => cable.close() }, (stage) => {
  const pathOf = (id: string, page = '') => `devices/${id}${page}`;

  test('shows state, values with units and a chart, which a tile chooses', async () => {
    const { page } = stage;
    await stage.visit(pathOf(device.id));
    await page.waitForURL(/\/overview$/);
    await page.getByRole('heading', { name: 'Room 1', level: 1 }).waitFor();
    await page.getByText('Online', { exact: true }).waitFor();
    const tiles = page.getByRole('group', { name: 'Values' });
    await tiles.getByRole('button', { name: /Temperature 21.5 ?°C/ }).waitFor();
    await page.getByRole('img', { name: 'Chart of Temperature in °C' }).waitFor();
    await tiles.getByRole('button', { name: /Humidity/ }).click();
    await page.getByRole('img', { name: 'Chart of Humidity in %' }).waitFor();
    expect(page.url()).toContain('key=humidity');
    await page.locator('canvas').waitFor();
    await stage.inspect('device-overview');
  });

  test('zooms by dragging and back, and shows a custom range', async () => {
    const { page } = stage;
    const box = await page.locator('.u-over').boundingBox();
    if (box === null) throw new Error('no plot');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.6, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, y, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/from=/);
    await page.getByText(/average per 30 s/).waitFor();
    await page.getByRole('button', { name: 'Reset zoom' }).click();
    await page.getByText(/average per 2 min/).waitFor();
    await page.getByRole('button', { name: 'Custom' }).click();
    await page.getByLabel('From', { exact: true }).fill('2026-03-01T10:00');
    await page.getByLabel('To', { exact: true }).fill('2026-03-01T11:00');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('No data in this time range').waitFor();
    await page.getByRole('button', { name: '24h' }).click();
    await page.locator('canvas').waitFor();
    await page.getByRole('button', { name: '1h' }).click();
    await page.getByLabel('Compare with previous period').check();
    await page.getByText(/average 42\.\d+ %, 1\.\d+ % lower than the previous period/).waitFor();
    await page.getByRole('button', { name: '24h' }).click();
    await page.getByLabel('Time zone').selectOption('mine');
    await page.getByText(/· Europe\/Zurich/).waitFor();
  });

  test('a sample appears in tile and tail, which pauses, filters and shows its JSON', async () => {
    const { page } = stage;
    const tail = page.getByRole('list', { name: 'Live samples' });
    await stage.world.capture(device, { temperature: 22.25, humidity: 45, mode: 'auto' });
    await tail.getByText('temperature 22.25').waitFor();
    await page.getByRole('button', { name: /Temperature 22.25 ?°C/ }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await stage.world.capture(device, { temperature: 22.5, humidity: 46, mode: 'manual' });
    await page.getByText('1 new').waitFor();
    await expect.poll(() => tail.getByText('mode "manual"').count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('searchbox', { name: 'Filter' }).fill('manual');
    await tail.getByText('mode "manual"').click();
    await expect.poll(() => tail.getByRole('listitem').count()).toBe(1);
    await tail.getByText('"topic": "default"').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('searchbox', { name: 'Filter' }).fill('');
  });

  test('after a cut the tail and the chart are complete, in their order', async () => {
    const { page } = stage;
    await page.getByRole('navigation', { name: 'Device tabs' }).getByText('Live').click();
    await page.waitForURL(/\/live/);
    const tail = page.getByRole('list', { name: 'Live samples' });
    await tail.getByText('mode "manual"').waitFor();
    cable.cut();
    await page.getByText(/Connection lost at/).waitFor();
    for (const temperature of [31, 32, 33]) await stage.world.capture(device, { temperature });
    cable.repair();
    await reconnect(page);
    await tail.getByText('temperature 33').waitFor();
    const rows = await tail.getByRole('listitem').allInnerTexts();
    const temperatures = rows.map((row) => Number(/temperature ([\d.]+)/.exec(row)?.[1]));
    expect(temperatures.slice(0, 5)).toEqual([33, 32, 31, 22.5, 22.25]);
    await stage.inspect('device-live');
    await page.getByText('Overview', { exact: true }).click();
    await page.getByRole('button', { name: /Temperature 33 ?°C/ }).waitFor();
    stage.takeComplaints();
  });

  test('a cut before the first sample loses nothing', async () => {
    const { page } = stage;
    await stage.visit(pathOf(quiet.id, '/live'));
    await page.getByText('New samples appear here automatically.').waitFor();
    cable.cut();
    await page.getByText(/Connection lost at/).waitFor();
    await stage.world.capture(quiet, { temperature: 1 });
    cable.repair();
    await reconnect(page);
    await page.getByText('temperature 1').waitFor();
    stage.takeComplaints();
  });

  test('a device without samples shows how it sends its first one', async () => {
    const { page } = stage;
    const silent = await stage.world.device({ name: 'Cellar' });
    await stage.visit(pathOf(silent.id));
    await page.getByText('No data from Cellar yet').waitFor();
    await page.getByText(`deviceId=${silent.deviceId}`).waitFor();
    await page.getByText(`secret=${silent.secret}`).waitFor();
    await stage.inspect('device-never');
    await stage.world.capture(silent, { temperature: 19 });
    await page.getByRole('button', { name: /temperature.* 19/ }).waitFor();
    await page.getByText('Online', { exact: true }).waitFor();
  });

  test('the log by level, and an uplink that is decoded again', async () => {
    const { page } = stage;
    await stage.world.capture(device, { temperature: 34 });
    await stage.world.capture(device, { temperature: 'warm' });
    await stage.visit(pathOf(device.id, '/log'));
    const log = page.getByRole('list', { name: 'Processing log' });
    await log.getByText('The temperature is not a number', { exact: true }).waitFor();
    await stage.inspect('device-log');
    await page.getByRole('button', { name: 'Warnings' }).click();
    await page.getByText('No log entries').waitFor();
    expect(page.url()).toContain('level=WARN');
    await page.getByRole('button', { name: 'Errors' }).click();
    await log.getByText('The temperature is not a number', { exact: true }).click();
    await log.getByRole('link', { name: 'View uplink' }).click();
    await page.waitForURL(/uplinks\?.*at=/);
    const uplinks = page.getByRole('list', { name: 'Raw uplinks' });
    await uplinks.getByText('{"temperature":34}').click();
    await page.getByRole('button', { name: 'Decode again' }).click();
    await page.getByText('Matches the stored samples').waitFor();
    await stage.inspect('device-uplinks');
    await page.getByRole('link', { name: 'Back to newest' }).click();
    await uplinks.getByText('{"temperature":"warm"}').waitFor();
  });

  test('an unknown device and a phone', async () => {
    const { page } = stage;
    await stage.visit(pathOf('02ffffffffffffff'));
    const gone = page.getByRole('alert').filter({ hasText: 'This no longer exists' });
    await gone.getByRole('link', { name: 'Back to list' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    stage.takeComplaints();
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.visit(pathOf(device.id, '/overview'));
    await page.locator('canvas').waitFor();
    await expect.poll(() => pageWidth(page)).toBe(390);
    await stage.inspect('device-phone');
  });
});

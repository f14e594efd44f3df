// Charts: every line is in the legend and can be alone, and the points are there as a table.
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { journey } from './journey.ts';

const keys = Array.from({ length: 9 }, (_, at) => `temperature_of_zone_${at + 1}`);
let dashboardId: string;

const prepare = async (world: World) => {
  const device = await world.device({ name: 'Hall' });
  for (const base of [20, 21, 22])
    await world.capture(device, Object.fromEntries(keys.map((key, at) => [key, base + at])));
  const series = keys.map((dataKey) => ({
    deviceId: device.id,
    topic: 'default',
    dataKey,
    accumulator: 'AVG',
    label: dataKey,
  }));
  const tile = {
    id: 'lines',
    kind: 'line',
    title: 'Zones',
    x: 0,
    y: 0,
    width: 6,
    height: 4,
    series,
  };
  const configuration = { schema: 'heliograph-dashboard', version: 1, tiles: [tile] };
  const { workspaceId } = world;
  const body = { workspaceId, name: 'Zones', configuration };
  dashboardId = (await world.must('POST', '/v3/dashboards', body)).id;
};

journey('charts', { start: startWorld, prepare }, (stage) => {
  test('review console M8: the legend has every line, and a click shows one alone', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    const legend = page.getByRole('list', { name: 'Lines' });
    for (const key of keys) await legend.getByRole('button', { name: key }).waitFor();
    await stage.inspect('chart-legend');
    const third = legend.getByRole('button', { name: keys[2]! });
    await third.click();
    await expect.poll(() => third.getAttribute('aria-pressed')).toBe('true');
    expect(await legend.locator('[data-hidden="true"]').count()).toBe(keys.length - 1);
    await third.click();
    await expect.poll(() => legend.locator('[data-hidden="true"]').count()).toBe(0);
  });

  test('review console A-LOW: the points of a chart are there as a table', async () => {
    const { page } = stage;
    const opener = page.getByRole('button', { name: 'Show as table' });
    await opener.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: /Zones/ });
    for (const key of keys) await dialog.getByRole('columnheader', { name: key }).waitFor();
    expect(await dialog.getByRole('row').count()).toBeGreaterThan(1);
    await stage.inspect('chart-values');
    await page.keyboard.press('Escape');
    await expect.poll(() => opener.evaluate((one) => one === document.activeElement)).toBe(true);
  });
});

// Charts: every line is in the legend and can be alone, and the points are there as a table.
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const keys = Array.from({ length: 9 }, (_, at) => `temperature_of_zone_${at + 1}`);
let dashboardId: string;
let roomBody: object;

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
  const room = await world.device({ name: 'Room' });
  const hour = 3_600_000;
  const now = Math.floor(Date.now() / hour) * hour;
  const usual = Array.from({ length: 35 * 24 }, (_, i) => now - (i + 1) * hour).filter(
    // Nothing was measured for two hours of the last day.
    (at) => at < now - 8 * hour || at > now - 6 * hour,
  );
  await world.must(
    'POST',
    '/v3/samples/bulk',
    usual.map((at) => ({
      deviceId: room.id,
      timestamp: new Date(at).toISOString(),
      data: {
        temperature:
          20 + 3 * Math.sin((at / hour / 24) * 2 * Math.PI) + (((at / hour) * 7) % 11) / 10,
      },
    })),
  );
  const own = { deviceId: room.id, dataKey: 'temperature', label: 'Room' };
  const place = { kind: 'line', x: 0, width: 6, height: 4 };
  const tiles = [
    { ...place, id: 'usual', title: 'Usual', y: 0, series: [{ ...own, expected: true }] },
    {
      ...place,
      id: 'mean',
      title: 'Mean',
      y: 4,
      series: [{ ...own, accumulator: 'TIME_WEIGHTED_AVG', maxGap: 'PT2H' }],
    },
  ];
  roomBody = {
    workspaceId: world.workspaceId,
    name: 'Rooms',
    configuration: { schema: 'heliograph-dashboard', version: 1, tiles },
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
    await expect.poll(() => legend.locator('[data-hidden="true"]').count()).toBe(keys.length - 1);
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
    await expect.poll(() => dialog.getByRole('row').count()).toBeGreaterThan(1);
    await stage.inspect('chart-values');
    await page.keyboard.press('Escape');
    await expect.poll(() => opener.evaluate((one) => one === document.activeElement)).toBe(true);
  });

  test('contract 38: a line has its expected range, covers a part of the time, and is changed in its form', async () => {
    const { page, world } = stage;
    const { id } = await world.must('POST', '/v3/dashboards', roomBody);
    await stage.visit(`dashboards/${id}`);
    await page.getByText('shaded: expected range').waitFor();
    await page.getByText(/^covers \d\d % of the time$/).waitFor();
    await stage.inspect('chart-usual');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Edit Usual' }).click();
    const form = page.getByRole('dialog', { name: 'Edit tile' });
    await expect.poll(() => form.getByLabel('Expected range').inputValue()).toBe('MEDIUM');
    await form.getByLabel('Aggregation').selectOption('RATE');
    await form.getByLabel('Per', { exact: true }).selectOption('Hour');
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.keyboard.press('Control+s');
    await expect
      .poll(
        async () =>
          (await world.must('GET', `/v3/dashboards/${id}`)).configuration.tiles[0].series[0],
      )
      .toMatchObject({ accumulator: 'RATE', per: 'PT1H' });
    await page.getByText('shaded: expected range').waitFor({ state: 'detached' });
  });

  test('contract 39: series have a style and an axis of their own, and an earlier period is drawn', async () => {
    const { page, world } = stage;
    const { id } = await world.must('POST', '/v3/dashboards', roomBody);
    const stored = async () => (await world.must('GET', `/v3/dashboards/${id}`)).configuration;
    await stage.visit(`dashboards/${id}`);
    const compare = page.getByRole('button', { name: 'Compare' });
    await compare.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => compare.getAttribute('aria-pressed')).toBe('true');
    const usual = page.getByRole('region', { name: 'Usual' });
    await usual.getByRole('button', { name: 'Room, earlier' }).waitFor();
    await stage.inspect('chart-compared');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Edit Usual' }).click();
    const form = page.getByRole('dialog', { name: 'Edit tile' });
    await form.getByLabel('Style').selectOption('Steps');
    await form.getByLabel('Axis', { exact: true }).selectOption('Right');
    const right = form.getByRole('group', { name: 'Right axis' });
    await right.getByLabel('Minimum').fill('30');
    await right.getByLabel('Maximum').fill('10');
    await form.getByRole('button', { name: 'Apply' }).click();
    await form.getByRole('alert').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await right.getByLabel('Minimum').fill('1');
    await right.getByLabel('Maximum').fill('100');
    await right.getByLabel('Scale').selectOption('Logarithmic');
    await right.getByLabel('Label').fill('Room temperature');
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Dashboard settings' }).click();
    const settings = page.getByRole('dialog', { name: 'Dashboard settings' });
    await settings.getByLabel('Refresh').selectOption('Every 30 s');
    await settings.getByLabel('Compare with').selectOption('Previous period');
    expect(await axeFindings(page)).toEqual([]);
    await settings.getByRole('button', { name: 'Apply' }).click();
    await page.keyboard.press('Control+s');
    const axis = { min: 1, max: 100, scale: 'LOG', label: 'Room temperature' };
    await expect.poll(stored).toMatchObject({
      refresh: 'PT30S',
      compare: 'PREVIOUS',
      tiles: [{ axes: { right: axis }, series: [{ style: 'STEP', axis: 'RIGHT' }] }, {}],
    });
    await usual.getByRole('button', { name: 'Room, earlier' }).waitFor();
    await stage.inspect('chart-axes');
  });

  test('contract 39: notes are added by mouse and by keyboard, shown in the chart, changed and deleted', async () => {
    const { page, world } = stage;
    const { id } = await world.must('POST', '/v3/dashboards', roomBody);
    const notes = async () =>
      (await world.must('GET', `/v3/annotations?workspaceId=${world.workspaceId}`)).content;
    await stage.visit(`dashboards/${id}`);
    const chart = page.getByRole('region', { name: 'Mean' });
    const offer = chart.getByRole('button', { name: /^Add note at / });
    // A click is lost where new data replaces the plot under it.
    await expect
      .poll(async () => {
        await chart.getByRole('img').click({ position: { x: 170, y: 60 } });
        return offer.count();
      })
      .toBe(1);
    await offer.click();
    const dialog = page.getByRole('dialog', { name: 'Notes on Mean' });
    await dialog.getByLabel('Note', { exact: true }).fill('Window opened');
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add note' }).click();
    await dialog.getByText('Window opened').waitFor();
    await expect.poll(async () => (await notes())[0]?.text).toBe('Window opened');
    const [first] = await notes();
    // A third of the chart is a third of the day.
    const hours = (Date.now() - Date.parse(first.at)) / 3_600_000;
    expect(hours).toBeGreaterThan(10);
    expect(hours).toBeLessThan(23);
    await page.keyboard.press('Escape');
    const opener = chart.getByRole('button', { name: 'Notes on Mean' });
    await opener.focus();
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Note', { exact: true }).fill('Filter changed');
    const time = dialog.getByLabel('Time');
    const now = await time.inputValue();
    await time.fill(`${now.slice(0, 11)}00:00`);
    await dialog.getByLabel('End').fill(`${now.slice(0, 11)}00:00`);
    await dialog.getByText('The end must be after the time').waitFor();
    await dialog.getByLabel('End').fill(`${now.slice(0, 11)}00:30`);
    await dialog.getByLabel('About').selectOption('Room');
    await dialog.getByLabel('Note', { exact: true }).press('Tab');
    await dialog.getByRole('button', { name: 'Add note' }).press('Enter');
    await expect.poll(async () => (await notes()).length).toBe(2);
    const ranged = (await notes()).find((one: { text: string }) => one.text === 'Filter changed');
    expect(Date.parse(ranged.until) - Date.parse(ranged.at)).toBe(1_800_000);
    expect(ranged.deviceId).not.toBeNull();
    const edit = dialog.getByRole('button', { name: 'Edit note: Filter changed' });
    await edit.press('Enter');
    const text = dialog.getByLabel('Note', { exact: true });
    await expect.poll(() => text.inputValue()).toBe('Filter changed');
    await expect.poll(() => text.evaluate((one) => one === document.activeElement)).toBe(true);
    await stage.inspect('chart-note-edit');
    await text.fill('Filter cleaned');
    await dialog.getByRole('button', { name: 'Save note' }).press('Enter');
    await expect
      .poll(async () => (await notes()).find(({ id }: { id: string }) => id === ranged.id))
      .toMatchObject({ text: 'Filter cleaned', at: ranged.at, until: ranged.until });
    await dialog.getByRole('button', { name: 'Add note' }).waitFor();
    await page.keyboard.press('Escape');
    await stage.inspect('chart-notes');
    await page.setViewportSize({ width: 390, height: 844 });
    await opener.click();
    await dialog.getByRole('button', { name: 'Delete note: Window opened' }).click();
    await expect.poll(async () => (await notes()).length).toBe(1);
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });
});

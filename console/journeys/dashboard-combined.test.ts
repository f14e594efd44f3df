// Combined devices of a dashboard in a real browser: built in the form, shown with a note of devices without a value, and shared.
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { axeFindings, openBrowser } from './chromium.ts';
import { journey } from './journey.ts';

const hourMs = 3_600_000;
let dashboardId = '';
let tagId = '';

journey('combined devices', { start: startWorld, prepare }, (stage) => {
  const stored = async () =>
    (await stage.world.must('GET', `/v3/dashboards/${dashboardId}`)).configuration.tiles;

  test('contract 39: one value of all devices of a tag is built in the form', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
    await page.getByRole('button', { name: 'Add tile' }).first().click();
    const form = page.getByRole('dialog', { name: 'New tile' });
    await form.getByLabel('Visualization').selectOption('Value');
    await form.getByLabel('Title').fill('Power');
    await form.getByLabel('Source').selectOption('Devices with a tag');
    await form.getByLabel('Tag', { exact: true }).selectOption('Meters');
    // A tile of one value always combines.
    expect(await form.getByLabel('Combine devices').inputValue()).toBe('AVG');
    await form.getByLabel('Combine devices').selectOption('Sum');
    await form.getByText('Combines the last values in the time range.').waitFor();
    await form.getByLabel('Data key').selectOption('power');
    expect(await axeFindings(page)).toEqual([]);
    await form.getByRole('button', { name: 'Apply', exact: true }).click();
    const tile = page.getByRole('region', { name: 'Power' });
    await tile.getByText('600', { exact: true }).waitFor();
    await tile.getByText('3 of 4 devices').waitFor();
    await stage.save(`/v3/dashboards/${dashboardId}`, () => page.keyboard.press('Control+s'));
    expect((await stored())[0].series).toMatchObject([
      { tagId, dataKey: 'power', across: 'SUM', label: 'Meters' },
    ]);
  });

  test('contract 39: a chart has one line, and its name can be calculated with', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Add tile' }).first().click();
    const form = page.getByRole('dialog', { name: 'New tile' });
    await form.getByLabel('Visualization').selectOption('Line chart');
    await form.getByLabel('Title').fill('Course');
    await form.getByLabel('Source').selectOption('Devices with a tag');
    await form.getByLabel('Tag', { exact: true }).selectOption('Meters');
    await form.getByLabel('Data key').selectOption('power');
    await form.getByLabel('Combine devices').selectOption('Maximum');
    await form.getByRole('button', { name: 'Add calculation' }).click();
    const calculation = form.getByRole('group', { name: 'Calculation 1' });
    await calculation.getByLabel('Label').fill('Twice');
    await calculation.getByLabel('Formula').fill('a * 2');
    expect(await axeFindings(page)).toEqual([]);
    await form.getByRole('button', { name: 'Apply', exact: true }).click();
    const chart = page.getByRole('region', { name: 'Course' });
    await chart.getByRole('button', { name: 'Meters' }).waitFor();
    await chart.getByRole('button', { name: 'Twice' }).waitFor();
    await chart.getByText('Meters: 3 of 4 devices').waitFor();
    await stage.save(`/v3/dashboards/${dashboardId}`, () => page.keyboard.press('Control+s'));
    expect((await stored())[1]).toMatchObject({
      kind: 'line',
      series: [{ tagId, dataKey: 'power', across: 'MAX', ref: 'a' }],
      calculations: [{ as: 'Twice', expression: 'a * 2' }],
    });
    await stage.inspect('dashboard-combined');
  });

  test('contract 39: in German, and with a link', async () => {
    const { page, world } = stage;
    await page.evaluate(() => localStorage.setItem('language', 'de'));
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('region', { name: 'Power' }).getByText('3 von 4 Geräten').waitFor();
    await page.evaluate(() => localStorage.setItem('language', 'en'));
    const { url } = await world.must('POST', `/v3/dashboards/${dashboardId}/share`);
    const other = await openBrowser(world.base);
    try {
      const { pathname, search, hash } = new URL(url);
      await other.page.goto(world.base + pathname + search + hash);
      const tile = other.page.getByRole('region', { name: 'Power' });
      await tile.getByText('600', { exact: true }).waitFor();
      await tile.getByText('3 of 4 devices').waitFor();
      expect(await axeFindings(other.page)).toEqual([]);
      expect(other.complaints).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('contract 42: a link shows each device of a tag that is not combined', async () => {
    const { world } = stage;
    const place = { x: 0, y: 0, width: 6, height: 4 };
    const { id } = await world.must('POST', '/v3/dashboards', {
      workspaceId: world.workspaceId,
      name: 'Each',
      configuration: {
        schema: 'heliograph-dashboard',
        version: 2,
        tiles: [
          {
            ...place,
            id: 'each',
            kind: 'table',
            title: 'Each',
            series: [{ tagId, dataKey: 'power' }],
          },
        ],
      },
    });
    const { url } = await world.must('POST', `/v3/dashboards/${id}/share`);
    const other = await openBrowser(world.base);
    try {
      const { pathname, hash } = new URL(url);
      await other.page.goto(world.base + pathname + hash);
      const tile = other.page.getByRole('region', { name: 'Each' });
      for (const value of ['100', '200', '300'])
        await tile.getByText(value, { exact: true }).waitFor();
      expect(await other.page.getByRole('alert').count()).toBe(0);
      expect(other.complaints).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('contract 39: a tag that is deleted leaves its tiles empty, and the others as they are', async () => {
    const { page, world } = stage;
    const tiles = await stored();
    const { id: gone } = await world.must('POST', '/v3/tags', {
      workspaceId: world.workspaceId,
      name: 'Gone',
    });
    const series = [{ tagId: gone, dataKey: 'power', across: 'SUM' }];
    const extra = {
      id: 'gone',
      kind: 'value',
      title: 'Gone',
      x: 0,
      y: 20,
      width: 3,
      height: 2,
      series,
    };
    const { version, configuration } = await world.must('GET', `/v3/dashboards/${dashboardId}`);
    await world.must('PUT', `/v3/dashboards/${dashboardId}`, {
      version,
      name: 'Building',
      configuration: { ...configuration, tiles: [...tiles, extra] },
    });
    await world.must('DELETE', `/v3/tags/${gone}`);
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('region', { name: 'Power' }).getByText('600', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Gone' }).getByText('–').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    // The browser tells the answer 404 to the request of the tile.
    expect(stage.takeComplaints().every((one) => one.includes('404'))).toBe(true);
  });
});

async function prepare(world: World): Promise<void> {
  const { workspaceId } = world;
  ({ id: tagId } = await world.must('POST', '/v3/tags', { workspaceId, name: 'Meters' }));
  const now = Date.now();
  const samples: object[] = [];
  for (const at of [1, 2, 3, 4]) {
    const { id: deviceId } = await world.device({ name: `Meter ${at}`, tags: [{ id: tagId }] });
    // The fourth has another key only.
    for (let hour = 1; hour <= 6; hour++)
      samples.push({
        deviceId,
        timestamp: new Date(now - hour * hourMs).toISOString(),
        data: at === 4 ? { level: 1 } : { power: at * 100 },
      });
  }
  await world.must('POST', '/v3/samples/bulk', samples);
  const created = await world.must('POST', '/v3/dashboards', {
    workspaceId,
    name: 'Building',
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      range: { last: 'PT24H' },
      tiles: [],
    },
  });
  dashboardId = created.id;
}

// Kinds of tiles and versions of a dashboard in a real browser.
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey, type Stage } from './journey.ts';

const hourMs = 3_600_000;
let dashboardId = '';
let wayId = '';
let figuresId = '';
let sumsId = '';

journey('tiles of dashboards', { start: startWorld, prepare }, (stage) => {
  test('contract 39: every kind of tile shows its data', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('img', { name: 'Pressure: 47 bar, from 0 to 60' }).waitFor();
    await page.getByText('Critical').first().waitFor();
    await page.getByRole('img', { name: /^By hour by hour and day, 0 – 47 bar/ }).waitFor();
    const histogram = page.getByRole('region', { name: 'Spread' });
    await histogram.getByText('48 values').waitFor();
    const fleet = page.getByRole('region', { name: 'Fleet' });
    await fleet.getByRole('link', { name: 'Pump' }).waitFor();
    await fleet.getByRole('cell', { name: '47' }).waitFor();
    await page.getByRole('img', { name: /^Mode: on, 7 changes/ }).waitFor();
    const manual = page.getByRole('link', { name: 'Manual' });
    await expect.poll(() => manual.getAttribute('rel')).toBe('noreferrer noopener');
    await stage.inspect('dashboard-tiles');
    await page.setViewportSize({ width: 390, height: 844 });
    await histogram.getByText('48 values').waitFor();
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test('contract 39: the legend has figures, and charts share crosshair and thresholds', async () => {
    const { page } = stage;
    const chart = page.getByRole('region', { name: 'Course' });
    const legend = chart.getByRole('list', { name: 'Lines' });
    await legend.getByRole('button', { name: 'Pressure bar min 0 max 47' }).waitFor();
    const level = legend.getByRole('button', { name: 'Level cm min 0 max 94' });
    await level.click();
    await expect.poll(() => legend.locator('[data-hidden="true"]').count()).toBe(1);
    await legend.getByRole('button', { name: /^Pressure/ }).click({ modifiers: ['Shift'] });
    await expect.poll(() => legend.locator('[aria-pressed="true"]').count()).toBe(2);
    await level.click({ modifiers: ['Shift'] });
    await expect.poll(() => legend.locator('[aria-pressed="true"]').count()).toBe(1);
    await chart.locator('.u-over').scrollIntoViewIfNeeded();
    const box = await chart.locator('.u-over').boundingBox();
    if (box === null) throw new Error('the chart is not shown');
    await page.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2);
    const other = page.getByRole('region', { name: 'Beside' });
    await other.getByText(/^\d+ bar/).waitFor();
    await stage.inspect('dashboard-thresholds');
  });

  test('contract 39: at 1,280 pixels the actions are one row, also in German, and paper has the tiles only', async () => {
    const { page } = stage;
    await page.setViewportSize({ width: 1_280, height: 800 });
    for (const [language, edit] of [
      ['de', 'Bearbeiten'],
      ['en', 'Edit'],
    ] as const) {
      await page.evaluate((chosen) => localStorage.setItem('language', chosen), language);
      await stage.visit(`dashboards/${dashboardId}`);
      const last = page.getByRole('button', { name: edit, exact: true });
      await last.waitFor();
      // Another row begins where a button is further left than the one before it.
      await expect
        .poll(() =>
          last.evaluate((button) =>
            [...(button.parentElement?.children ?? [])]
              .filter((child) => child.getBoundingClientRect().width > 0)
              .map((child) => child.getBoundingClientRect().left)
              .every((left, at, all) => at === 0 || left > (all[at - 1] ?? 0)),
          ),
        )
        .toBe(true);
    }
    await page.getByRole('region', { name: 'Fleet' }).waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('button', { name: 'Edit', exact: true }).isVisible()).toBe(false);
    expect(await page.getByRole('navigation').first().isVisible()).toBe(false);
    expect(await page.getByRole('region', { name: 'Fleet' }).isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });
    await page.evaluate(() => {
      const counted = globalThis as { printed?: number };
      globalThis.print = () => {
        counted.printed = (counted.printed ?? 0) + 1;
      };
    });
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Print' }).click();
    await expect
      .poll(() => page.evaluate(() => (globalThis as { printed?: number }).printed))
      .toBe(1);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test('contract 39: a gauge, links, and a table of devices are added in the form', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Add tile' }).click();
    await page.getByLabel('Visualization').selectOption('Links');
    await page.getByLabel('Title').fill('See also');
    await page.getByLabel('Label').fill('Standards');
    await page.getByLabel('Web address').fill('https://example.org/standards');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('link', { name: 'Standards' }).waitFor();
    await page.getByRole('button', { name: 'Add tile' }).click();
    await page.getByLabel('Visualization').selectOption('Devices');
    await page.getByLabel('Title').fill('All pumps');
    await page.getByLabel('Data key').fill('mode');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    const table = page.getByRole('region', { name: 'All pumps' });
    await table.getByRole('cell', { name: 'on' }).waitFor();
    const saved = page.waitForResponse((answer) => answer.request().method() === 'PUT');
    await page.keyboard.press('Control+s');
    expect((await saved).status()).toBe(200);
  });

  test('contract 39: an earlier version is looked at and restored', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'JSON' }).click();
    await page.getByText('"heliograph-dashboard"').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Versions' }).click();
    await page.getByText('Version 1 (current)').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Version 0' }).click();
    await page.getByText('with current data').waitFor();
    await page.getByRole('region', { name: 'Fleet' }).waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'All pumps' }).count()).toBe(0);
    await stage.inspect('dashboard-version');
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('button', { name: 'Share' }).waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'All pumps' }).count()).toBe(0);
    const { version, configuration } = await stage.world.must(
      'GET',
      `/v3/dashboards/${dashboardId}`,
    );
    expect([version, configuration.tiles.length]).toEqual([2, 8]);
  });

  test('contract 39: a list shows trends, a map draws tracks, and a title leads on', async () => {
    const { page, world } = stage;
    await stage.visit(`dashboards/${wayId}`);
    const list = page.getByRole('region', { name: 'Vans' });
    await list.locator('td svg path[d^="M"]').first().waitFor({ state: 'attached' });
    const map = page.getByRole('region', { name: 'Way' });
    await map.locator('canvas').waitFor();
    await expect.poll(() => drawnPixels(page)).toBeGreaterThan(200);
    await stage.inspect('dashboard-way');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Edit Way' }).click();
    const form = page.getByRole('dialog', { name: 'Edit tile' });
    const track = form.getByLabel('Draw the track of each device');
    expect(await track.isChecked()).toBe(true);
    await form.getByLabel('Linked dashboard').selectOption('Station');
    expect(await axeFindings(page)).toEqual([]);
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.keyboard.press('Control+s');
    const stored = async () => (await world.must('GET', `/v3/dashboards/${wayId}`)).configuration;
    await expect
      .poll(stored)
      .toMatchObject({ tiles: [{}, { track: true, link: { dashboardId } }] });
    await page.getByRole('button', { name: 'Done' }).click();
    const title = map.getByRole('link', { name: 'Way' });
    await title.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Station' }).first().waitFor();
  });

  test('contract 38: a chart calculates with its values, also behind a link', async () => {
    const { page, world } = stage;
    await stage.visit(`dashboards/${sumsId}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Edit Sums' }).click();
    const form = page.getByRole('dialog', { name: 'Edit tile' });
    await form.getByRole('button', { name: 'Add calculation' }).click();
    const names = form.getByLabel('Name in formulas');
    await expect.poll(() => names.first().inputValue()).toBe('a');
    expect(await names.nth(1).inputValue()).toBe('b');
    await form.getByRole('checkbox', { name: 'Only for calculations' }).first().check();
    const calculation = form.getByRole('group', { name: 'Calculation 1' });
    await calculation.getByLabel('Label').fill('Sum');
    const formula = calculation.getByLabel('Formula', { exact: true });
    await formula.fill('a + c');
    await calculation.getByText('No value is named c').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await formula.fill('a + b.MAX');
    await calculation.getByText('No value is named c').waitFor({ state: 'detached' });
    await calculation.getByLabel('Unit').fill('bar');
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.keyboard.press('Control+s');
    const stored = async () => (await world.must('GET', `/v3/dashboards/${sumsId}`)).configuration;
    await expect.poll(stored).toMatchObject({
      tiles: [
        {
          series: [{ ref: 'a', hidden: true }, { ref: 'b' }],
          calculations: [{ as: 'Sum', expression: 'a + b.MAX', unit: 'bar' }],
        },
      ],
    });
    await page.getByRole('button', { name: 'Done' }).click();
    const lines = page.getByRole('region', { name: 'Sums' }).getByRole('list', { name: 'Lines' });
    await lines.getByRole('button', { name: 'Sum bar max 141' }).waitFor();
    await lines.getByRole('button', { name: 'Level cm max 94' }).waitFor();
    expect(await lines.getByRole('button', { name: /^Pressure/ }).count()).toBe(0);
    await stage.inspect('dashboard-calculation');
    const { url } = await world.must('POST', `/v3/dashboards/${sumsId}/share`);
    const { pathname, hash } = new URL(url);
    await page.goto(new URL(pathname + hash, page.url()).href);
    await lines.getByRole('button', { name: 'Sum bar max 141' }).waitFor();
    expect(await lines.getByRole('button', { name: /^Pressure/ }).count()).toBe(0);
  });

  test('contract 39: a value tile calculates with the last values, also behind a link', async () => {
    const { page, world } = stage;
    await stage.visit(`dashboards/${figuresId}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Edit Figures' }).click();
    const form = page.getByRole('dialog', { name: 'Edit tile' });
    await form.getByRole('button', { name: 'Add calculation' }).click();
    const calculation = form.getByRole('group', { name: 'Calculation 1' });
    await calculation.getByLabel('Label').fill('Sum');
    await calculation.getByLabel('Formula', { exact: true }).fill('a + b');
    await calculation.getByLabel('Unit').fill('bar');
    await form.getByLabel('Visualization').selectOption('value');
    expect(await form.getByLabel('Name in formulas').count()).toBe(2);
    expect(await form.getByRole('checkbox', { name: 'Only for calculations' }).count()).toBe(0);
    expect(await form.getByRole('button', { name: 'Add calculation' }).count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.keyboard.press('Control+s');
    const stored = async () =>
      (await world.must('GET', `/v3/dashboards/${figuresId}`)).configuration;
    await expect.poll(stored).toMatchObject({
      tiles: [
        {
          kind: 'value',
          series: [{ ref: 'a' }, { ref: 'b' }],
          calculations: [{ as: 'Sum', expression: 'a + b', unit: 'bar' }],
        },
      ],
    });
    await page.getByRole('button', { name: 'Done' }).click();
    const tile = page.getByRole('region', { name: 'Figures' });
    await tile.getByText('141').waitFor();
    await tile.getByText('bar').waitFor();
    const { url } = await world.must('POST', `/v3/dashboards/${figuresId}/share`);
    const { pathname, hash } = new URL(url);
    await page.goto(new URL(pathname + hash, page.url()).href);
    await tile.getByText('141').waitFor();
  });
});

/** Pixels in the color of the first track. */
function drawnPixels(page: Stage['page']): Promise<number> {
  return page.evaluate(() => {
    const canvas = document.querySelector('canvas');
    if (!canvas) return 0;
    // Read from a copy: a browser warns of a page that reads its own canvas again and again.
    const context = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {
      willReadFrequently: true,
    });
    context?.drawImage(canvas, 0, 0);
    if (!context) return 0;
    const probe = document.createElement('canvas').getContext('2d');
    if (!probe) return 0;
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--c1').trim();
    probe.fillRect(0, 0, 1, 1);
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4)
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) count += 1;
    return count;
  });
}

async function prepare(world: World): Promise<void> {
  const { workspaceId } = world;
  const { id: deviceId } = await world.device({ name: 'Pump' });
  const now = Date.now();
  const samples = Array.from({ length: 48 }, (_, at) => ({
    deviceId,
    timestamp: new Date(now - (47 - at) * hourMs).toISOString(),
    data: { pressure: at, level: at * 2, mode: at % 12 < 6 ? 'off' : 'on' },
  }));
  await world.must('POST', '/v3/samples/bulk', samples);
  const series = [{ deviceId, dataKey: 'pressure', unit: 'bar', label: 'Pressure' }];
  const tile = (id: string, kind: string, x: number, y: number, more: object) => {
    return { id, kind, x, y, width: 4, height: 4, ...more };
  };
  const thresholds = [
    { from: 0, tone: 'OK' },
    { from: 40, tone: 'BAD' },
  ];
  const created = await world.must('POST', '/v3/dashboards', {
    workspaceId,
    name: 'Station',
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      range: { last: 'P3D' },
      tiles: [
        tile('g', 'gauge', 0, 0, { title: 'Pressure', series, min: 0, max: 60, thresholds }),
        tile('h', 'histogram', 4, 0, { title: 'Spread', series }),
        tile('m', 'heatmap', 8, 0, { title: 'By hour', series }),
        tile('t', 'timeline', 0, 4, {
          title: 'Modes',
          series: [{ deviceId, dataKey: 'mode', label: 'Mode' }],
        }),
        tile('c', 'line', 0, 8, {
          title: 'Course',
          width: 6,
          series: [...series, { deviceId, dataKey: 'level', unit: 'cm', label: 'Level' }],
          thresholds,
          thresholdStyle: 'BAND',
          legend: { figures: ['MIN', 'MAX'] },
        }),
        tile('b', 'line', 6, 8, { title: 'Beside', width: 6, series, thresholds }),
        tile('d', 'devices', 4, 4, { title: 'Fleet', columns: [{ dataKey: 'pressure' }] }),
        tile('l', 'links', 8, 4, {
          title: 'More',
          links: [{ label: 'Manual', url: 'https://example.org/manual' }],
        }),
      ],
    },
  });
  dashboardId = created.id;
  const sums = await world.must('POST', '/v3/dashboards', {
    workspaceId,
    name: 'Sums',
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      range: { last: 'P3D' },
      tiles: [
        tile('s', 'line', 0, 0, {
          title: 'Sums',
          width: 6,
          series: [...series, { deviceId, dataKey: 'level', unit: 'cm', label: 'Level' }],
          legend: { figures: ['MAX'] },
        }),
      ],
    },
  });
  sumsId = sums.id;
  const figures = await world.must('POST', '/v3/dashboards', {
    workspaceId,
    name: 'Figures',
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      range: { last: 'P3D' },
      tiles: [
        tile('f', 'line', 0, 0, {
          title: 'Figures',
          series: [...series, { deviceId, dataKey: 'level', unit: 'cm', label: 'Level' }],
        }),
      ],
    },
  });
  figuresId = figures.id;

  const van = await world.device({ name: 'Van' });
  await world.must(
    'POST',
    '/v3/samples/bulk',
    Array.from({ length: 20 }, (_, at) => ({
      deviceId: van.id,
      timestamp: new Date(now - (20 - at) * hourMs).toISOString(),
      data: { latitude: 47 + at / 20, longitude: 8 + (at % 5) / 5, fuel: 60 - at },
    })),
  );
  const way = await world.must('POST', '/v3/dashboards', {
    workspaceId,
    name: 'Vans on their way',
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      range: { last: 'P3D' },
      variables: [{ name: 'van', kind: 'DEVICE', default: van.id }],
      tiles: [
        tile('s', 'devices', 0, 0, {
          title: 'Vans',
          variable: 'van',
          columns: [{ dataKey: 'fuel', spark: true }],
        }),
        tile('w', 'map', 4, 0, {
          title: 'Way',
          width: 8,
          series: [{ variable: 'van', dataKey: 'latitude' }],
          track: true,
        }),
      ],
    },
  });
  wayId = way.id;
}

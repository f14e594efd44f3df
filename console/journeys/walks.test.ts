// Walks: parts of whole journeys that no other test takes, by keyboard and on a phone, in both themes.
//
// What a user wants, and the tests that walk it. `dialogs.test.ts` opens the dialogs of every page by
// keyboard, and at 390 pixels in both themes.
//
// | journey                                    | mouse                  | keyboard                | phone                  | counted                        |
// | ------------------------------------------ | ---------------------- | ----------------------- | ---------------------- | ------------------------------ |
// | 1. a type, and a dashboard for each device | dashboard-variables    | dashboard-variables     | dashboard-variables    | 0 clicks to a device's tiles   |
// | 2. rooms from a CSV file                   | places-screen          | places-screen           | places-screen          |                                |
// |    devices on a floor plan                 | floor-plan             | places-plan             | narrow                 | 10 devices within 2 minutes    |
// |    a dashboard for each floor              | here                   | here                    | here                   |                                |
// | 3. "I send and nothing comes"              | why                    | here                    | why                    | 1 click to the broken step     |
// | 4. an alarm with email                     | chart-alarm            | chart-alarm             | chart-alarm            | 4 clicks                       |
// | 5. a report by email                       | reports                | reports                 | dialogs                |                                |
// | 6. a dashboard from Grafana                | grafana-import         | here                    | here                   |                                |
// | 7. the time machine                        | time-machine(-pages)   | time-machine            | time-machine(-pages)   |                                |
import { expect, test, vi } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const phone = { width: 390, height: 844 };
const desk = { width: 1_440, height: 900 };
const floors: { readonly id: string; readonly name: string; readonly value: number }[] = [];
let dashboardId = '';
let silent = '';

async function prepare(world: World): Promise<void> {
  const { workspaceId } = world;
  for (const [name, value] of [
    ['Floor 2', 21],
    ['Floor 3', 34],
  ] as const) {
    const { id } = await world.must('POST', '/v3/places', { workspaceId, name, kind: 'FLOOR' });
    const device = await world.device({ name: `Room of ${name}` });
    await world.capture(device, { temperature: value });
    await world.must('POST', `/v3/places/${id}/devices`, { add: [device.id] });
    floors.push({ id, name, value });
  }
  const series = [{ variable: 'floor', topic: 'default', dataKey: 'temperature', unit: '°C' }];
  const place = { y: 0, width: 4, height: 4 };
  const dashboard = await world.must('POST', '/v3/dashboards', {
    workspaceId,
    name: 'Building',
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      variables: [{ name: 'floor', label: 'Floor', kind: 'PLACE', default: floors[0]?.id }],
      tiles: [
        { ...place, x: 0, id: 'value', kind: 'value', title: 'Newest of {{floor}}', series },
        { ...place, x: 4, id: 'chart', kind: 'line', title: 'Course of {{floor}}', series },
        { ...place, x: 8, id: 'table', kind: 'table', title: 'Rooms of {{floor}}', series },
      ],
    },
  });
  dashboardId = dashboard.id;
  const device = await world.device({ name: 'Attic' });
  silent = device.id;
  const query = new URLSearchParams({ secret: device.secret, deviceId: `${device.deviceId}x` });
  await fetch(`${world.base}/v3/capture?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"value":1}',
  });
  const refusals = `/v3/device-connectors/${device.connectorId}/refusals`;
  await vi.waitFor(
    async () => expect((await world.must('GET', refusals)).content).toHaveLength(1),
    { timeout: 60_000 },
  );
}

journey('walks', { start: startWorld, prepare }, (stage) => {
  test('every tile of a dashboard follows the floor, by mouse, keyboard, and on a phone', async () => {
    const { page } = stage;
    const [lower, upper] = floors;
    if (lower === undefined || upper === undefined) throw new Error('nothing was prepared');
    const picker = page.getByLabel('Floor', { exact: true });
    const isOf = async ({ name, value }: typeof lower) => {
      for (const title of [`Newest of ${name}`, `Rooms of ${name}`])
        await page.getByRole('region', { name: title }).getByText(String(value)).first().waitFor();
      await page
        .getByRole('region', { name: `Rooms of ${name}` })
        .getByText(`Room of ${name}`)
        .waitFor();
      await page.getByRole('img', { name: new RegExp(`^Course of ${name}`) }).waitFor();
    };
    await stage.visit(`dashboards/${dashboardId}`);
    await isOf(lower);
    await picker.selectOption('Floor 3');
    await isOf(upper);
    expect(new URL(page.url()).searchParams.get('var.floor')).toBe(upper.id);
    await stage.inspect('walk-floor');
    await picker.focus();
    await page.keyboard.type('Floor 2');
    await isOf(lower);
    await page.setViewportSize(phone);
    await picker.selectOption('Floor 3');
    await isOf(upper);
    await stage.inspect('walk-floor-phone');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(phone.width);
    await page.setViewportSize(desk);
  });

  test('one press on "Why?" shows the broken step of what never arrived, by keyboard too', async () => {
    const { page } = stage;
    await stage.visit(`devices/${silent}/overview`);
    await page.getByRole('button', { name: 'Why?' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'What happened to the uplink of Attic?' });
    await dialog.getByText('The uplink was rejected', { exact: true }).waitFor();
    const broken = dialog.getByRole('button', { name: 'Rejected Broken' });
    await expect.poll(() => broken.getAttribute('aria-pressed')).toBe('true');
    await dialog.getByText('Did you mean').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('a dashboard of Grafana is imported on a phone, without a mouse', async () => {
    const { page, world } = stage;
    await page.setViewportSize(phone);
    await stage.visit('dashboards');
    const opener = page.getByRole('button', { name: 'Import from Grafana' });
    if ((await opener.count()) === 0) {
      await page.getByRole('button', { name: 'More actions', exact: true }).focus();
      await page.keyboard.press('Enter');
    }
    await opener.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Import from Grafana' });
    const panels = [
      { id: 1, type: 'stat', title: 'Door', gridPos: { x: 0, y: 0, w: 12, h: 8 } },
      {
        id: 2,
        type: 'news',
        title: 'News of the cold store',
        gridPos: { x: 0, y: 8, w: 24, h: 4 },
      },
    ];
    await dialog.getByLabel('Choose file').setInputFiles({
      name: 'cold-store.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ title: 'Cold store', panels })),
    });
    await dialog.getByText('1 of 2 panels map.').waitFor();
    await dialog.getByText('Panels of type news are not supported').waitFor();
    await stage.inspect('walk-grafana-phone');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(phone.width);
    await dialog.getByRole('button', { name: 'Create dashboard' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Cold store' }).first().waitFor();
    const list = await world.must('GET', `/v3/dashboards?workspaceId=${world.workspaceId}`);
    const names = list.content.map(({ name }: { name: string }) => name);
    expect(names).toContain('Cold store');
    await page.setViewportSize(desk);
  });
});

// Plan tiles in a real browser: added in the form, with the devices of the place, and marks with their newest values.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200" viewBox="0 0 400 200">
<rect width="400" height="200" fill="#eee"/></svg>`;
const soon = { timeout: 60_000, interval: 200 };
let probe: TestDevice;
let floorId = '';
let bareId = '';
let dashboardId = '';

/** Longer ago than the devices may be silent. */
const earlier = () => new Date(Date.now() - 3 * 86_400_000).toISOString();

async function prepare(world: World): Promise<void> {
  const { workspaceId, base, apiKey } = world;
  const answer = await fetch(`${base}/v3/blobs?workspaceId=${workspaceId}&name=floor.svg`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'image/svg+xml' },
    body: svg,
  });
  const { id: blobId } = (await answer.json()) as { readonly id: string };
  const place = async (name: string, more: object) =>
    (await world.must('POST', '/v3/places', { workspaceId, name, ...more })).id;
  floorId = await place('Floor', { plan: { blobId } });
  bareId = await place('Cellar', {});
  probe = await world.device({ name: 'Probe' });
  await world.must('POST', `/v3/places/${floorId}/devices`, {
    add: [probe.id],
    positions: [{ deviceId: probe.id, x: 0.5, y: 0.5 }],
  });
  await world.must('POST', '/v3/samples/bulk', [
    { deviceId: probe.id, timestamp: earlier(), data: { temperature: 12.5 } },
  ]);
  await world.capture(probe, { temperature: 21.4 });
  const tile = { kind: 'plan', x: 0, width: 6, height: 6 };
  const marks = [{ deviceId: probe.id, dataKey: 'temperature', x: 0.2, y: 0.2 }];
  const made = await world.must('POST', '/v3/dashboards', {
    workspaceId,
    name: 'House',
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      tiles: [
        { ...tile, id: 'marks', title: 'Marks', y: 0, blobId, marks },
        { ...tile, id: 'bare', title: 'Bare', x: 6, y: 0, placeId: bareId },
      ],
    },
  });
  dashboardId = made.id;
}

journey('plan tiles', { start: startWorld, prepare }, (stage) => {
  const tile = (name: string) => stage.page.getByRole('region', { name, exact: true });

  test('contract 39.1: a picture with marks, and a place without a plan says so', async () => {
    await stage.visit(`dashboards/${dashboardId}`);
    await tile('Marks').getByRole('application', { name: /^Plan/ }).waitFor();
    await tile('Bare').getByText('This place has no floor plan').waitFor();
  });

  test('contract 39.1: the plan of a place is added in the form, and leads to its devices', async () => {
    const { page, world } = stage;
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Add tile' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Visualization').selectOption('Floor plan');
    await dialog.getByLabel('Title').fill('Ground');
    await dialog.getByLabel('Place').selectOption('Floor');
    await dialog.getByLabel('Color by').selectOption({ label: 'temperature' });
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
    await tile('Ground').getByRole('application', { name: /^Plan/ }).waitFor();
    await stage.save('/v3/dashboards/');
    const { configuration } = await world.must('GET', `/v3/dashboards/${dashboardId}`);
    expect(configuration.tiles).toContainEqual(
      expect.objectContaining({
        kind: 'plan',
        title: 'Ground',
        placeId: floorId,
        colorBy: { topic: 'default', dataKey: 'temperature' },
      }),
    );
    await stage.visit(`dashboards/${dashboardId}`);
    const plan = tile('Ground').getByRole('application');
    await plan.waitFor();
    await stage.inspect('dashboard-plan');
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
    // The device stands in the middle; its mark is there once the devices have arrived.
    await expect
      .poll(async () => {
        if (new URL(page.url()).pathname.includes('/devices/')) return true;
        await plan.click({ timeout: 5_000 }).catch(() => undefined);
        return new URL(page.url()).pathname.includes(`/devices/${probe.id}`);
      }, soon)
      .toBe(true);
    await page.getByRole('heading', { name: 'Probe', level: 1 }).waitFor();
  });

  test('contract 39.1: its colors follow new values, and those of an earlier moment', async () => {
    const { page, world } = stage;
    const scale = (value: string) =>
      tile('Ground').getByRole('img', { name: new RegExp(`^Colors from ${value} to ${value}`) });
    await stage.visit(`dashboards/${dashboardId}`);
    await scale('21.4').waitFor();
    // The value is there before the next request, which comes after 30 seconds.
    const requests: string[] = [];
    page.on('request', (one) => {
      if (one.url().endsWith('/query/latest')) requests.push(one.postData() ?? '');
    });
    await world.capture(probe, { temperature: 23.5 });
    await scale('23.5').waitFor();
    const asked = requests.filter((body) => body.includes(floorId));
    expect(asked.length).toBeLessThan(2);
    await stage.inspect('dashboard-plan-heat');
    await stage.visit(
      `dashboards/${dashboardId}?at=${new Date(Date.now() - 2 * 86_400_000).toISOString()}`,
    );
    await scale('12.5').waitFor();
    await page.getByRole('button', { name: 'Back to now' }).click();
    await scale('23.5').waitFor();
  });
});

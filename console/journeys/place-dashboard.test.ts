// Dashboard of a place in a real browser: generated from its devices, customized once for all places of its kind, on a phone, and as of an earlier moment.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const dayMs = 86_400_000;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200" viewBox="0 0 400 200">
<rect width="400" height="200" fill="#eee"/></svg>`;
let below: TestDevice;
let above: TestDevice;
let lower = '';
let upper = '';
let loose = '';

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
  lower = await place('Floor 1', { kind: 'FLOOR', plan: { blobId } });
  upper = await place('Floor 2', { kind: 'FLOOR' });
  loose = await place('Yard', {});
  [below, above] = [
    await world.device({ name: 'Probe <b>1</b>' }),
    await world.device({ name: 'Probe 2' }),
  ];
  await world.must('POST', `/v3/places/${lower}/devices`, {
    add: [below.id],
    positions: [{ deviceId: below.id, x: 0.5, y: 0.5 }],
  });
  await world.must('POST', `/v3/places/${upper}/devices`, { add: [above.id] });
  const timestamp = new Date(Date.now() - 2 * dayMs).toISOString();
  await world.must('POST', '/v3/samples/bulk', [
    { deviceId: below.id, timestamp, data: { temperature: 7 } },
  ]);
  await world.capture(below, { temperature: 21.5, open: true });
  await world.capture(above, { temperature: 19 });
}

journey('the dashboard of a place', { start: startWorld, prepare }, (stage) => {
  const tile = (name: string) => stage.page.getByRole('region', { name, exact: true });
  const openTab = () =>
    stage.page
      .getByRole('navigation', { name: 'Pages of the place' })
      .getByRole('link', { name: 'Dashboard' });

  test('contract 39.2: one click shows its plan, values, devices and alarms', async () => {
    const { page } = stage;
    await stage.visit(`places/${lower}`);
    await openTab().click();
    await page.getByText('Generated from the data of the devices here').waitFor();
    await tile('Floor plan')
      .getByRole('img', { name: /^Colors from 21.5 to 21.5/ })
      .waitFor();
    await tile('temperature').locator('canvas').waitFor();
    await tile('Devices')
      .getByRole('row', { name: /Probe <b>1<\/b>/ })
      .getByText('21.5')
      .waitFor();
    await tile('Alarms').getByText('No alarms').waitFor();
    await stage.inspect('place-dashboard');
  });

  test('contract 39.5: the time machine and the range are in its address', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Time machine' }).click();
    const bar = page.getByRole('region', { name: /^As of / });
    const then = new Date(Date.now() - dayMs)
      .toLocaleString('sv-SE', { timeZone: 'Europe/Zurich' })
      .slice(0, 16)
      .replace(' ', 'T');
    await bar.getByLabel('Date and time').fill(then);
    await tile('Floor plan')
      .getByRole('img', { name: /^Colors from 7 to 7/ })
      .waitFor();
    await page.reload();
    await tile('Floor plan')
      .getByRole('img', { name: /^Colors from 7 to 7/ })
      .waitFor();
    await stage.inspect('place-dashboard-then');
    await bar.getByRole('button', { name: 'Back to now' }).click();
    await tile('Floor plan')
      .getByRole('img', { name: /^Colors from 21.5 to 21.5/ })
      .waitFor();
  });

  test('contract 39.2: it is customized once for all places of the kind, by keyboard', async () => {
    const { page, world } = stage;
    await page.getByRole('button', { name: 'Customize' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'FLOOR', level: 1, exact: true }).waitFor();
    const list = `/v3/dashboards?workspaceId=${world.workspaceId}&placeKind=FLOOR`;
    expect((await world.must('GET', list)).totalElements).toBe(1);
    await stage.visit(`places/${upper}/dashboard`);
    await page.getByText('Dashboard of all places of kind FLOOR').waitFor();
    await tile('Devices')
      .getByRole('row', { name: /Probe 2/ })
      .getByText('19')
      .waitFor();
    await tile('Floor plan').getByText('This place has no floor plan').waitFor();
    const edit = page.getByRole('link', { name: 'Edit dashboard' });
    await expect.poll(() => edit.getAttribute('href')).toContain(upper);
  });

  test('a place without a kind says what it needs', async () => {
    const { page } = stage;
    await stage.visit(`places/${loose}/dashboard`);
    const button = page.getByRole('button', { name: 'Customize' });
    await button.waitFor();
    expect(await button.isDisabled()).toBe(true);
    await expect
      .poll(() => button.getAttribute('title'))
      .toContain('Set the kind of this place first');
  });

  test('on a phone nothing is wider than the screen', async () => {
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.visit(`places/${lower}/dashboard`);
    await tile('Devices').getByText('Probe <b>1</b>').waitFor();
    await stage.inspect('place-dashboard-phone');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });
});

// Plan of a place in a real browser: its picture, devices placed by dragging and by keyboard, colors by value, live values.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

let world: World;
let probe: TestDevice;
let other: TestDevice;
let floor: { readonly id: string };

const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200">
<rect width="400" height="200" fill="#eee"/><rect x="20" y="20" width="170" height="160" fill="none" stroke="#888"/>
<rect x="210" y="20" width="170" height="160" fill="none" stroke="#888"/></svg>`;

async function prepare(started: World): Promise<void> {
  world = started;
  const { workspaceId } = world;
  const place = (name: string, parentId: string | null) =>
    world.must('POST', '/v3/places', { workspaceId, name, parentId });
  floor = await place('Floor', null);
  const room = await place('Room', floor.id);
  [probe, other] = [
    await world.device({ name: 'Probe <i>1</i>' }),
    await world.device({ name: 'Other' }),
  ];
  await world.must('POST', `/v3/places/${floor.id}/devices`, { add: [probe.id] });
  await world.must('POST', `/v3/places/${room.id}/devices`, { add: [other.id] });
  await world.capture(probe, { temperature: 20 });
  await world.capture(other, { temperature: 24, door: true });
}

const positionOf = async ({ id }: TestDevice) =>
  (await world.must('GET', `/v3/devices/${id}`)).planPosition;
const plan = (page: Page) => page.getByRole('application', { name: /^Plan/ });
const row = (page: Page, name: RegExp) =>
  page.getByRole('region', { name: 'Devices of the plan' }).getByRole('button', { name });

/** As the browser writes it, which is in Zurich. */
const localTime = (ms: number) =>
  new Date(ms)
    .toLocaleString('sv-SE', { timeZone: 'Europe/Zurich' })
    .slice(0, 16)
    .replace(' ', 'T');

/** Pixels of the canvas that are drawn. */
const drawn = (page: Page) =>
  plan(page)
    .locator('canvas')
    .evaluate((shown) => {
      const copy = document.createElement('canvas');
      const { width, height } = shown as HTMLCanvasElement;
      Object.assign(copy, { width, height });
      const context = copy.getContext('2d', { willReadFrequently: true });
      context?.drawImage(shown as HTMLCanvasElement, 0, 0);
      const { data = [] } = context?.getImageData(0, 0, width, height) ?? {};
      let count = 0;
      for (let at = 3; at < data.length; at += 4) if (data[at] !== 0) count += 1;
      return count;
    });

journey('the plan of a place', { start: startWorld, prepare }, (stage) => {
  test('a picture is uploaded, and another type is refused', async () => {
    const { page } = stage;
    await stage.visit(`places/${floor.id}`);
    await page.getByText('No plan yet').waitFor();
    await stage.inspect('plan-empty');
    const choose = page.locator('input[type="file"]');
    await choose.setInputFiles({
      name: 'plan.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('no picture'),
    });
    await page.getByText(/must be a picture/).waitFor();
    expect(stage.takeComplaints()).toHaveLength(1);
    await choose.setInputFiles({
      name: 'floor.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from(svg),
    });
    await expect
      .poll(async () => (await world.must('GET', `/v3/places/${floor.id}`)).plan)
      .toMatchObject({ width: 400, height: 200 });
    await plan(page).waitFor();
    await page.getByText('2 devices are not on the plan').waitFor();
    await expect
      .poll(() =>
        plan(page)
          .locator('img')
          .evaluate((img) => (img as HTMLImageElement).complete),
      )
      .toBe(true);
  });

  test('devices are placed by keyboard and by dragging', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Arrange devices' }).click();
    await row(page, /Probe/).click();
    await expect.poll(() => positionOf(probe)).toEqual({ x: 0.5, y: 0.5 });
    await expect
      .poll(() => plan(page).evaluate((one) => one === document.activeElement))
      .toBe(true);
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('ArrowUp');
    await expect
      .poll(async () => {
        const { x, y } = await positionOf(probe);
        return [x.toFixed(3), y.toFixed(3)];
      })
      .toEqual(['0.400', '0.495']);
    const box = (await plan(page).boundingBox())!;
    const target = { x: box.width * 0.75, y: box.height * 0.5 };
    await row(page, /Other/).dragTo(plan(page), { targetPosition: target });
    await expect.poll(async () => (await positionOf(other))?.x).toBeCloseTo(0.75, 1);
    // A device on the plan is dragged further.
    await page.mouse.move(box.x + target.x, box.y + target.y);
    await page.mouse.down();
    await page.mouse.move(box.x + target.x + 30, box.y + target.y + 40, { steps: 5 });
    await page.mouse.up();
    await expect.poll(async () => (await positionOf(other))?.y).toBeGreaterThan(0.55);
    await stage.inspect('plan-arrange');
    await page.getByRole('button', { name: 'Arrange devices' }).click();
  });

  test('colors follow a value, live, and places below have their average', async () => {
    const { page } = stage;
    const before = await drawn(page);
    await page.getByLabel('Color by').selectOption({ label: 'temperature' });
    await page
      .getByRole('img', { name: /Colors from 20 to 24, estimated between devices/ })
      .waitFor();
    expect(page.url()).toContain('color=');
    await expect.poll(() => drawn(page)).toBeGreaterThan(before * 3);
    await page
      .getByRole('navigation', { name: 'Places below' })
      .getByRole('link', { name: 'Room 24' })
      .waitFor();
    await stage.inspect('plan-heat');
    await world.capture(probe, { temperature: 17.5 });
    await page.getByRole('img', { name: /Colors from 17.5 to 24/ }).waitFor();
    await page.reload();
    await page.getByRole('img', { name: /Colors from 17.5 to 24/ }).waitFor();
  });

  test('contract 39.5: the time machine shows values and colors of an earlier moment', async () => {
    const { page } = stage;
    const before = new Date(Date.now() - 2 * 86_400_000).toISOString();
    await world.must('POST', '/v3/samples/bulk', [
      { deviceId: probe.id, timestamp: before, data: { temperature: 3 } },
      { deviceId: other.id, timestamp: before, data: { temperature: 5 } },
    ]);
    await page.getByRole('button', { name: 'Time machine' }).click();
    const bar = page.getByRole('region', { name: /^As of / });
    await page.getByText(/^Values and states are those of that time/).waitFor();
    await page.getByRole('button', { name: 'Arrange devices' }).waitFor({ state: 'detached' });
    await bar.getByLabel('Date and time').fill(localTime(Date.now() - 86_400_000));
    await page.getByRole('img', { name: /Colors from 3 to 5/ }).waitFor();
    await stage.inspect('plan-then');
    await page.reload();
    await page.getByRole('img', { name: /Colors from 3 to 5/ }).waitFor();
    await bar.getByRole('button', { name: 'Back to now' }).click();
    await page.getByRole('img', { name: /Colors from 17.5 to 24/ }).waitFor();
    expect(new URL(page.url()).searchParams.get('at')).toBeNull();
  });

  test('a device is chosen on the plan, and a place below with a plan shows its devices there', async () => {
    const { page } = stage;
    await plan(page).focus();
    await row(page, /Probe/).click();
    await page.getByRole('link', { name: 'Open Probe <i>1</i>' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Open Probe <i>1</i>' }).waitFor({ state: 'detached' });
    const room = (
      await world.must('GET', `/v3/places?workspaceId=${world.workspaceId}&search=Room`)
    ).content[0];
    await page
      .getByRole('navigation', { name: 'Places below' })
      .getByRole('link', { name: /Room/ })
      .click();
    await page.getByRole('heading', { name: 'Room', level: 1 }).waitFor();
    await page.locator('input[type="file"]').setInputFiles({
      name: 'room.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from(svg),
    });
    await expect
      .poll(async () => (await world.must('GET', `/v3/places/${room.id}`)).plan?.width)
      .toBe(400);
    await row(page, /Other/).waitFor();
    await stage.visit(`places/${floor.id}`);
    await row(page, /Probe/).waitFor();
    await expect.poll(() => row(page, /Other/).count()).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    await plan(page).waitFor();
    await stage.inspect('plan-phone');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
  });

  test('the plan is removed, and Undo brings it back', async () => {
    const { page } = stage;
    const planOf = async () => (await world.must('GET', `/v3/places/${floor.id}`)).plan;
    await page.getByRole('button', { name: 'Remove plan' }).click();
    await expect.poll(planOf).toBeNull();
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).last().click();
    await expect.poll(planOf).toMatchObject({ width: 400 });
  });
});

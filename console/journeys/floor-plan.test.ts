// Floor plan with ten devices in a real browser, by mouse: within two minutes, with a press for each device and three more.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { journey } from './journey.ts';

const count = 10;
const minutesMs = 120_000;
let floor: { readonly id: string };
const devices: TestDevice[] = [];

const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200">
<rect width="400" height="200" fill="#eee"/><path d="M200 0v200M0 100h400" stroke="#888"/></svg>`;

async function prepare(world: World): Promise<void> {
  floor = await world.must('POST', '/v3/places', {
    workspaceId: world.workspaceId,
    name: 'Floor 2',
    kind: 'FLOOR',
  });
  for (let number = 1; number <= count; number += 1) {
    const device = await world.device({ name: `Sensor ${String(number).padStart(2, '0')}` });
    await world.capture(device, { temperature: 20 + number });
    devices.push(device);
  }
  await world.must('POST', `/v3/places/${floor.id}/devices`, {
    add: devices.map(({ id }) => id),
  });
}

/** Two rows of five. */
const shareOf = (at: number) => ({ x: 0.1 + (at % 5) * 0.2, y: at < 5 ? 0.3 : 0.7 });
const plan = (page: Page) => page.getByRole('application', { name: /^Plan/ });

journey('a floor plan by mouse', { start: startWorld, prepare }, (stage) => {
  test('design 2.2: ten devices are on the plan and colored within two minutes', async () => {
    const { page, world } = stage;
    await stage.visit(`places/${floor.id}`);
    await page.getByText('No plan yet').waitFor();
    let presses = 0;
    await page.exposeFunction('countPress', () => (presses += 1));
    await page.evaluate(() => {
      const { countPress } = globalThis as unknown as { countPress: () => void };
      addEventListener('pointerdown', ({ isTrusted }) => isTrusted && countPress(), true);
    });
    const begin = performance.now();
    await page.locator('input[type="file"]').setInputFiles({
      name: 'floor.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from(svg),
    });
    await page.getByText(`${count} devices are not on the plan`).waitFor();
    await page.getByRole('button', { name: 'Arrange devices' }).click();
    await expect
      .poll(() =>
        plan(page)
          .locator('img')
          .evaluate((img) => (img as HTMLImageElement).complete),
      )
      .toBe(true);
    const list = page.getByRole('region', { name: 'Devices of the plan' });
    for (const [at] of devices.entries()) {
      const { width = 0, height = 0 } = (await plan(page).boundingBox()) ?? {};
      const name = `Sensor ${String(at + 1).padStart(2, '0')}`;
      // The picture fills the box in one direction and stands in its middle in the other.
      const scale = Math.min(width / 400, height / 200);
      const { x, y } = shareOf(at);
      await list.getByRole('button', { name }).dragTo(plan(page), {
        targetPosition: {
          x: width / 2 + (x - 0.5) * 400 * scale,
          y: height / 2 + (y - 0.5) * 200 * scale,
        },
      });
    }
    await page.getByRole('button', { name: 'Arrange devices' }).click();
    await page.getByLabel('Color by').selectOption({ label: 'temperature' });
    await page.getByRole('img', { name: /Colors from 21 to 30/ }).waitFor();
    const took = performance.now() - begin;
    for (const [at, { id }] of devices.entries()) {
      const positionOf = async () => (await world.must('GET', `/v3/devices/${id}`)).planPosition;
      await expect
        .poll(async () => (await positionOf())?.x, { message: `device ${at + 1}` })
        .toBeCloseTo(shareOf(at).x, 1);
      expect((await positionOf()).y, `device ${at + 1}`).toBeCloseTo(shareOf(at).y, 1);
    }
    // One for each device, two for the button that arranges; a list of a browser counts as none.
    await expect.poll(() => presses).toBe(count + 2);
    expect(took).toBeLessThan(minutesMs);
    await stage.inspect('floor-plan');
  });
});

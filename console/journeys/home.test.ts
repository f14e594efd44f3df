// Home in a real browser: nothing yet, then the first sample, live, and what needs attention.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

journey('home', { start: startWorld }, (stage) => {
  let room: TestDevice;

  test('an empty workspace says so', async () => {
    const { page } = stage;
    await page.getByRole('heading', { name: 'No device is registered yet.' }).waitFor();
    await page.getByText('Nothing. Enjoy it.').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test('the keys g and d lead to the devices, g and h back', async () => {
    const { page } = stage;
    await page.keyboard.type('gd');
    await page.waitForURL(/\/devices$/);
    await page.keyboard.type('gh');
    await page.getByText('Nothing. Enjoy it.').waitFor();
  });

  test('a sample appears as it is stored, with the name of its device', async () => {
    const { page, world } = stage;
    room = await world.device({ name: 'Room <b>1</b>' });
    await page.reload();
    await page.getByText('Waiting for the next sample…').waitFor();
    // The subscription is open when the server has acknowledged it; samples before are not shown.
    await expect
      .poll(
        async () => {
          await world.capture(room, { temperature: 21.5, open: true });
          return page.getByRole('link', { name: 'Room <b>1</b>' }).count();
        },
        { timeout: 10_000, interval: 250 },
      )
      .toBeGreaterThan(0);
    await page.getByText('21.5', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'All quiet. Everything reports.' }).waitFor();
    await page.getByText('1 of 1 devices heard from in their usual time').waitFor();
    await page.getByText(/^since .*, with the last before$/).waitFor();
    await page.getByText('21.5', { exact: true }).first().waitFor();
  });

  test('the dark page and the narrow page have no fault either', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Light or dark' }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.getByRole('button', { name: 'Light or dark' }).click();
    await stage.inspect('home');
  });
});

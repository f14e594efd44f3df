// Phone: every section is in the menu, fields have letters that no phone zooms into, and a lost record says so.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

const browser = { width: 390, height: 844 };

journey('phone', { start: startWorld, browser, startMs: 240_000 }, (stage) => {
  test('console M1: the menu lists every section and leads there', async () => {
    const { page } = stage;
    await stage.visit('devices');
    await page.locator('h1').waitFor();
    await page.getByRole('button', { name: 'Menu' }).click();
    const menu = page.getByRole('dialog', { name: 'Menu' });
    for (const name of ['Map', 'Dashboards', 'Rules', 'Outputs', 'Activity', 'Settings'])
      await menu.getByRole('link', { name, exact: true }).waitFor();
    await menu.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await menu.getByRole('link', { name: 'Rules', exact: true }).click();
    await page.waitForURL(/\/rules$/);
    await menu.waitFor({ state: 'detached' });
    const sizes = await page.evaluate(() =>
      [...document.querySelectorAll('#content input')].map((one) => getComputedStyle(one).fontSize),
    );
    expect(new Set(sizes)).toEqual(new Set(['16px']));
  });

  test('console M7: a record that is gone says so, and leads to its list', async () => {
    const { page } = stage;
    await stage.visit('rules/0123456789abcdef/edit');
    await page.getByText('This no longer exists').waitFor();
    stage.takeComplaints();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Back to list' }).click();
    await page.waitForURL(/\/rules$/);
  });

  test('review console screens: the path has all the room of its bar, and a cut text its title', async () => {
    const { page } = stage;
    await stage.visit('devices/import');
    const last = page.locator('[data-path] b');
    await last.waitFor();
    const isCut = () => last.evaluate((one) => one.scrollWidth > one.clientWidth);
    expect(await isCut()).toBe(false);
    await page.setViewportSize({ width: 250, height: 844 });
    await expect.poll(isCut).toBe(true);
    await last.hover();
    await expect.poll(() => last.getAttribute('title')).toBe('Import devices');
    await page.setViewportSize(browser);
  });
});

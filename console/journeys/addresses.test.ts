// Addresses: links lead to their screens, also before the routes of all screens have arrived.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { journey } from './journey.ts';

const routesFile = /\/assets\/all-routes-.*\.js$/;

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
const menu = (page: Page) => page.getByRole('navigation', { name: 'Main' });

journey('addresses', { start: startWorld }, (stage) => {
  test('an address opens its screen with what it says, and Back leads to the page before', async () => {
    const { page } = stage;
    await stage.visit('');
    await heading(page, 'No devices yet').waitFor();
    await stage.visit('alarms?state=cleared&q=none#list');
    await heading(page, 'Alarms').waitFor();
    expect(page.url()).toBe(stage.at('alarms?state=cleared&q=none#list'));
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('none');
    await page.goBack();
    await heading(page, 'No devices yet').waitFor();
  });

  test('a link that is followed before the other routes are there waits for them', async () => {
    const { page } = stage;
    const release = Promise.withResolvers<void>();
    await page.route(routesFile, async (route) => {
      await release.promise;
      await route.continue();
    });
    await stage.visit('');
    const asked = page.waitForRequest(routesFile);
    await menu(page).getByRole('link', { name: 'Devices' }).click();
    await asked;
    await heading(page, 'No devices yet').waitFor();
    release.resolve();
    await heading(page, 'Devices').waitFor();
    expect(page.url()).toBe(stage.at('devices'));
    await page.unrouteAll();
  });

  test('an address without a page says so, with and without all routes', async () => {
    const { page } = stage;
    for (const path of ['bogus', 'devices/new/bogus', 'flows/bogus/bogus']) {
      await stage.visit(path);
      await heading(page, 'Page not found').waitFor();
      await menu(page).waitFor();
    }
    await page.locator('#content').getByRole('link', { name: 'Go to Home' }).click();
    await heading(page, 'No devices yet').waitFor();
    await page.goto(new URL('/shared/bogus', stage.at('')).href);
    await heading(page, 'Page not found').waitFor();
  });
});

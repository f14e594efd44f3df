// Unreachable platform: every screen without a network, and without code that a newer console no longer has.
import type { Page, Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { everyPage, type PageIds } from './every-page.ts';
import { type HostileRecords, makeRecords, plainWords } from './hostile-records.ts';
import { journey } from './journey.ts';

let records: HostileRecords;

const prepare = async (world: World) => {
  records = await makeRecords(world, plainWords);
};

journey('unreachable platform', { start: startWorld, prepare, startMs: 240_000 }, (stage) => {
  const idsOf = ({ organizationId, workspaceId }: World): PageIds => ({
    ...records.ids,
    organizationId,
    workspaceId,
  });

  /** Pages behind the sign-in, one after the other; the code of each comes with its first visit. */
  const eachPage = async (visit: (address: string) => Promise<void>) => {
    const pages = await everyPage(stage.page, idsOf(stage.world));
    const failed: string[] = [];
    await stage.visit('');
    await loaded(stage.page);
    for (const [path, address] of pages) {
      if (path.startsWith('/shared') || path === '/w/$workspaceId') continue;
      try {
        await visit(address);
      } catch (error) {
        failed.push(`${path}: ${String(error).slice(0, 200)}`);
      }
      stage.takeComplaints();
    }
    expect(failed).toEqual([]);
    expect(pages.size).toBeGreaterThan(25);
  };

  test('console H1: every screen says that it cannot load, and loads when the connection is back', async () => {
    const { page, browser } = stage;
    await eachPage(async (address) => {
      await browser.context.setOffline(true);
      try {
        await open(page, address);
        await page.locator('#content [role="alert"]').first().waitFor();
        await page.getByRole('navigation', { name: 'Main' }).waitFor();
        await page.getByRole('button', { name: 'Try now' }).waitFor();
      } finally {
        await browser.context.setOffline(false);
      }
      await loaded(page);
      expect(new URL(page.url()).pathname).toContain(address.split('?')[0]);
    });
  }, 300_000);

  test('console H1: a screen whose code is gone reloads once, to the same address', async () => {
    const { page } = stage;
    await eachPage(async (address) => {
      let documents = 0;
      await page.route(
        (url) => url.pathname.endsWith('.js') && url.pathname.startsWith('/assets/'),
        (route) => (documents === 0 ? route.fulfill({ status: 404 }) : route.continue()),
      );
      const reloaded = page.waitForEvent('domcontentloaded');
      const count = (request: Request) => {
        if (request.isNavigationRequest()) documents += 1;
      };
      page.on('request', count);
      await open(page, address);
      await reloaded;
      await loaded(page);
      await page.unrouteAll();
      page.off('request', count);
      expect(documents).toBe(1);
      expect(new URL(page.url()).pathname).toContain(address.split('?')[0]);
    });
  }, 300_000);

  test('console H1: code that stays missing is told, without another reload', async () => {
    const { page } = stage;
    await stage.visit('');
    await page.locator('h1').waitFor();
    let documents = 0;
    const count = () => (documents += 1);
    page.on('domcontentloaded', count);
    await page.route(/\/assets\/rule-list-.*\.js$/, (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Rules' }).click();
    await page.getByText('It is missing even after a reload').waitFor();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    page.off('domcontentloaded', count);
    expect(documents).toBe(1);
    await page.unrouteAll();
    await page.locator('#content').getByRole('button', { name: 'Reload' }).click();
    await loaded(page);
    stage.takeComplaints();
  });

  test('console H1: what opens over a page says so too', async () => {
    const { page, browser } = stage;
    await stage.visit('');
    await page.locator('h1').waitFor();
    await page.route(/\/assets\/palette-.*\.js$/, (route) => route.abort());
    await browser.context.setOffline(true);
    await page.keyboard.press('Control+k');
    await page.getByRole('alert').getByText('could not be loaded').waitFor();
    await page.unrouteAll();
    await browser.context.setOffline(false);
    await page.waitForEvent('domcontentloaded');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    stage.takeComplaints();
  });
});

/** As a link does, without waiting for the screen. */
async function open(page: Page, address: string): Promise<void> {
  await page.evaluate((href) => {
    const { __TSR_ROUTER__: router } = globalThis as unknown as {
      __TSR_ROUTER__: { navigate(to: object): Promise<void> };
    };
    void router.navigate({ href });
  }, address);
}

/** The screen with its title, and nothing on it that failed. */
async function loaded(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      document.querySelector('#content h1') !== null &&
      document.querySelector('#content [role="alert"]') === null &&
      document.querySelector('[class*="_bone_"]') === null,
  );
}

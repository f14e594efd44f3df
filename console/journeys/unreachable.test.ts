// Unreachable platform: every screen without a network, and without code that a newer console no longer has.
import process from 'node:process';
import type { Page, Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { everyPage, type PageIds, type RouterHolder } from './every-page.ts';
import { type HostileRecords, makeRecords, plainWords } from './hostile-records.ts';
import { journey } from './journey.ts';

let records: HostileRecords;

/** Each page loads the whole console again; `EVERY_PAGE=1` visits all of them, in minutes. */
const reloadsEach = process.env['EVERY_PAGE'] === '1' ? 1 : 6;

/** Their code is there from a page before: sign-in, device overview, decoder, a new flow, a new output, and a rule's editor. */
const withCodeOfOthers = [
  '/welcome',
  '/w/$workspaceId/devices/$deviceId/live',
  '/w/$workspaceId/types/$typeId/encoder',
  '/w/$workspaceId/flows/$flowId',
  '/w/$workspaceId/outputs/$outputId/settings',
  '/w/$workspaceId/rules/$ruleId/runs',
];

const prepare = async (world: World) => {
  records = await makeRecords(world, plainWords);
};

journey('unreachable platform', { start: startWorld, prepare, startMs: 240_000 }, (stage) => {
  const idsOf = ({ organizationId, workspaceId }: World): PageIds => ({
    ...records.ids,
    organizationId,
    workspaceId,
  });

  /** Every `step`-th page behind the sign-in, one after the other. `visit` resolves to whether something was missing. */
  const eachPage = async (
    step: number,
    visit: (address: string, mayBeComplete: boolean) => Promise<boolean>,
  ) => {
    const failed: string[] = [];
    const complete: string[] = [];
    await stage.visit('');
    await loaded(stage.page);
    const pages = await everyPage(stage.page, idsOf(stage.world));
    // Code is loaded early for a link below the pointer.
    await stage.page.mouse.move(0, 0);
    for (const [path, address] of [...pages].filter((_, at) => at % step === 0)) {
      if (path.startsWith('/shared') || path === '/w/$workspaceId') continue;
      try {
        if (!(await visit(address, withCodeOfOthers.includes(path)))) complete.push(path);
      } catch (error) {
        failed.push(`${path}: ${String(error).slice(0, 200)}`);
      }
      stage.takeComplaints();
    }
    expect(failed).toEqual([]);
    expect(withCodeOfOthers).toEqual(expect.arrayContaining(complete));
    expect(pages.size).toBeGreaterThan(25);
  };

  test('console H1: every screen says that it cannot load, and loads when the connection is back', async () => {
    const { page, browser } = stage;
    await eachPage(1, async (address, mayBeComplete) => {
      let isTold = false;
      await browser.context.setOffline(true);
      try {
        await open(page, address);
        await settled(page, address, true);
        // The title of the page before stays until the new one is told to have failed.
        const alert = page.locator('#content [role="alert"]').first();
        if (!mayBeComplete) await alert.waitFor();
        isTold = (await alert.count()) > 0;
        if (isTold) await page.getByRole('button', { name: 'Retry now' }).waitFor();
        await page.getByRole('navigation', { name: 'Main' }).waitFor();
      } finally {
        await browser.context.setOffline(false);
      }
      await settled(page, address);
      return isTold;
    });
  }, 300_000);

  test('console H1: a screen whose code is gone reloads once, to the same address', async () => {
    const { page } = stage;
    await eachPage(reloadsEach, async (address) => {
      let documents = 0;
      let missing = 0;
      await page.route(isCode, (route) => {
        if (documents > 0) return route.continue();
        missing += 1;
        return route.fulfill({ status: 404 });
      });
      const count = (request: Request) => {
        if (request.isNavigationRequest()) documents += 1;
      };
      page.on('request', count);
      try {
        await open(page, address);
        await settled(page, address);
        await expect
          .poll(() => ({ documents, missing }), { timeout: 60_000 })
          .toSatisfy(isReloadedOnce);
        await settled(page, address);
        // The page has asked for what it loads in the background.
        await everyPage(page, idsOf(stage.world));
      } finally {
        page.off('request', count);
        await page.unrouteAll();
      }
      expect({ documents, missing }).toSatisfy(isReloadedOnce);
      return missing > 0;
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
    await page.getByText('It is still missing after a reload').waitFor();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    page.off('domcontentloaded', count);
    expect(documents).toBe(1);
    await page.unrouteAll();
    await page.locator('#content').getByRole('button', { name: 'Reload' }).click();
    await loaded(page);
    stage.takeComplaints();
  });

  test('review console: a platform that does not answer is told in the language of the page', async () => {
    const { page, browser } = stage;
    await page.evaluate(() => localStorage.setItem('language', 'de'));
    await stage.visit('rules');
    await loaded(page);
    await browser.context.setOffline(true);
    await open(page, stage.at('rules?q=x').replace(/^https?:\/\/[^/]+/, ''));
    await page.locator('#content').getByText('Die Plattform antwortet nicht').waitFor();
    await browser.context.setOffline(false);
    await page.evaluate(() => localStorage.setItem('language', 'en'));
    await page.reload();
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
    await page.getByRole('alert').getByText("couldn't be loaded").last().waitFor();
    await page.unrouteAll();
    const reloaded = page.waitForEvent('domcontentloaded');
    await browser.context.setOffline(false);
    await reloaded;
    await loaded(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump to' }).waitFor();
    stage.takeComplaints();
  });
});

interface Seen {
  readonly documents: number;
  readonly missing: number;
}

const isReloadedOnce = ({ documents, missing }: Seen) => documents === Math.min(missing, 1);

const isCode = ({ pathname }: URL) => pathname.startsWith('/assets/') && pathname.endsWith('.js');

interface Opening {
  /** Until the router is done; a new document begins without it. */
  isOpening: boolean;
}

/** As a link does, without waiting for the screen. */
async function open(page: Page, address: string): Promise<void> {
  await page.evaluate((href) => {
    const place = globalThis as unknown as RouterHolder & Opening;
    place.isOpening = true;
    void place.__TSR_ROUTER__.navigate({ href }).finally(() => (place.isOpening = false));
  }, address);
}

/** The page of the address is there, complete; or with an alert where one `mayFail`. */
async function settled(page: Page, address: string, mayFail = false): Promise<void> {
  await page.waitForFunction(
    ({ path, isEnough }) => {
      const place = globalThis as unknown as Partial<RouterHolder & Opening>;
      if (place.isOpening === true || place.__TSR_ROUTER__?.state.status !== 'idle') return false;
      if (!location.pathname.includes(path)) return false;
      if (document.querySelector('#content [role="alert"]') !== null) return isEnough;
      const isLoading = document.querySelector('[class*="_bone_"]') !== null;
      return !isLoading && document.querySelector('#content h1') !== null;
    },
    { path: address.split('?')[0] ?? '', isEnough: mayFail },
  );
}

/** The page that is open has its title, and nothing on it failed. */
const loaded = (page: Page) => settled(page, '');

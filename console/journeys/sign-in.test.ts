// Sign-in in a real browser: wrong password, right password, the way back, and signing out.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { describeWith } from '../../tests/servers/server-tests.ts';
import { axeFindings, type Browser, chromiumProgram, openBrowser, signIn } from './chromium.ts';

describeWith(chromiumProgram, 'sign-in', () => {
  let world: World;
  let browser: Browser;

  beforeAll(async () => {
    world = await startWorld();
    browser = await openBrowser(world.base);
  });
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await world.close();
  });

  test('a page behind the sign-in leads to it and back', async () => {
    const { page } = browser;
    await page.goto(`${world.base}/w/${world.workspaceId}/devices?q=room`);
    await page.waitForURL(/\/sign-in\?to=/);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('email');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('E-mail').fill('admin@localhost');
    await page.getByLabel('Password').fill('correct horse battery staple');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/devices\?q=room$/);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('signing out ends the session', async () => {
    const { page } = browser;
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/sign-in$/);
    await page.goto(`${world.base}/`);
    await page.waitForURL(/\/sign-in/);
  });

  test('signs in to the first workspace', async () => {
    await signIn(browser.page, world.base);
    expect(browser.page.url()).toContain(world.workspaceId);
  });
});

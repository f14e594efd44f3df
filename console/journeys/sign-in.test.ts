// Sign-in in a real browser: wrong password, right password, the way back, and signing out.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings, signIn } from './chromium.ts';
import { journey } from './journey.ts';

journey('sign-in', { start: startWorld, isSignedOut: true }, (stage) => {
  test('a page behind the sign-in leads to it and back', async () => {
    const { page } = stage;
    await stage.visit('devices?q=room');
    await page.waitForURL(/\/sign-in\?to=/);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name'));
    await expect.poll(focused, { timeout: 60_000 }).toBe('email');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Email').fill('admin@localhost');
    await page.getByLabel('Password').fill('correct horse battery staple');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/devices\?q=room$/);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('signing out ends the session', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/sign-in$/);
    await page.goto(`${stage.world.base}/`);
    await page.waitForURL(/\/sign-in/);
  });

  test('signs in to the first workspace', async () => {
    await signIn(stage.page, stage.world.base);
    expect(stage.page.url()).toContain(stage.world.workspaceId);
  });
});

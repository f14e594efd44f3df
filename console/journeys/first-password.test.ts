// First password in a real browser: the owner replaces the generated one before anything else.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

const start = () => startWorld({ environment: { ADMIN_PASSWORD: '' } });

journey('first password', { start, isSignedOut: true }, (stage) => {
  test('ASVS 6.4.1: it is replaced at the first sign-in, and the page that was asked for follows', async () => {
    const { page, world } = stage;
    const password = world.platform.tenant?.generatedPassword ?? '';
    await stage.visit('devices?q=room');
    await page.waitForURL(/\/sign-in\?to=/);
    await page.getByLabel('Email').fill('admin@localhost');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/first-password\?to=/);
    await page.getByLabel('Current password').fill(password);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('New password').fill('chosen by the owner');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/devices\?q=room$/);
  });
});

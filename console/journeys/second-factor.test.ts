// Second factor in a browser: an app is set up by its QR code, asked for at sign-in, and removed.
import decodeQR from 'qr/decode.js';
import { expect, test } from 'vitest';
import { CodeSecret } from '../../src/access/second-factor.ts';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings, signIn } from './chromium.ts';
import { journey } from './journey.ts';

const password = 'correct horse battery staple';
const stepMs = 30_000;
/** Codes count once: each test moves the clock of the platform to the next one. */
const clock = { ahead: 0 };
const now = () => Date.now() + clock.ahead;

const startAhead = () => startWorld({ now });

journey('second factor', { start: startAhead }, (stage) => {
  let secret = '';
  let recoveryCodes: string[] = [];
  const nextCode = () => {
    clock.ahead += stepMs;
    return CodeSecret.parse(secret).codeOf(Math.floor(now() / stepMs));
  };
  const firstStep = async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByLabel('Email').fill('admin@localhost');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: "Verify it's you" }).waitFor();
  };

  test('an app is set up by its QR code, and the key below it is the same', async () => {
    const { page, world } = stage;
    await page.goto(`${world.base}/me/security`);
    await page.getByRole('button', { name: 'Set up authenticator app' }).click();
    await page.getByLabel('Your password').fill(password);
    await page.keyboard.press('Enter');
    const picture = page.getByRole('img', { name: /QR code/ });
    await picture.waitFor();
    const address = new URL(await readQrCode(picture));
    secret = address.searchParams.get('secret') ?? '';
    await page.getByRole('button', { name: 'Copy key' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    expect(decodeURIComponent(address.pathname)).toContain('Heliograph:admin@localhost');
    expect(await axeFindings(page)).toEqual([]);
  });

  test('its first code turns it on, and recovery codes are shown', async () => {
    const { page } = stage;
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The code is incorrect').waitFor();
    // A page that is left may have asked for something with the session that just ended.
    const complaints = stage.takeComplaints().filter((each) => !each.includes('/auth/me/'));
    expect(complaints).toEqual([expect.stringContaining('401')]);
    await page.getByLabel('Code', { exact: true }).fill(nextCode());
    await page.getByRole('button', { name: 'Turn on' }).click();
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await codes.first().waitFor();
    recoveryCodes = await codes.allTextContents();
    expect(recoveryCodes).toHaveLength(10);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: "I've saved my codes" }).click();
    await page.getByText('10 recovery codes left').waitFor();
  });

  test('the page is right in both themes', async () => {
    await stage.inspect('second-factor');
  });

  test('sign-in asks for a code, says what is wrong with one, and continues', async () => {
    const { page } = stage;
    await firstStep();
    expect(await axeFindings(page)).toEqual([]);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name'));
    await expect.poll(focused).toBe('code');
    await page.getByLabel('Code', { exact: true }).fill('123456');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The code is incorrect').waitFor();
    // A page that is left may have asked for something with the session that just ended.
    const complaints = stage.takeComplaints().filter((each) => !each.includes('/auth/me/'));
    expect(complaints).toEqual([expect.stringContaining('401')]);
    await page.getByLabel('Code', { exact: true }).fill(nextCode());
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/(w\/|welcome)/);
  });

  test('a recovery code replaces it once', async () => {
    const { page } = stage;
    await firstStep();
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await page.getByLabel('Recovery code').fill(recoveryCodes[0] ?? '');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/(w\/|welcome)/);
    await page.goto(`${stage.world.base}/me/security`);
    await page.getByText('9 recovery codes left').waitFor();
  });

  test('the app is removed with the password, which is then enough', async () => {
    const { page, world } = stage;
    await page.getByRole('button', { name: 'Remove authenticator app' }).click();
    await page.getByLabel('Your password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Set up authenticator app' }).waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL(/\/sign-in/);
    await signIn(page, world.base);
  });
});

/** What a camera would read from the picture. */
async function readQrCode(picture: {
  readonly evaluate: <T>(read: (element: Element) => T) => Promise<T>;
}): Promise<string> {
  const { size, path } = await picture.evaluate((element) => ({
    size: Number(element.getAttribute('viewBox')?.split(' ')[2]),
    path: element.querySelector('path')?.getAttribute('d') ?? '',
  }));
  const scale = 4;
  const width = size * scale;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)/g))
    for (let dy = 0; dy < scale; dy += 1)
      for (let dx = 0; dx < scale; dx += 1) {
        const at = ((Number(y) * scale + dy) * width + Number(x) * scale + dx) * 4;
        data.fill(0, at, at + 3);
      }
  return decodeQR({ width, height: width, data });
}

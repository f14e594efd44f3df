// Demanded second factor in two browsers: switched on, set up by a member who continues, and reset.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { CodeSecret } from '../../src/access/second-factor.ts';
import { addMember, signIn as signInByRequest } from '../../tests/access/access-world.ts';
import { startWorld, type World } from '../../tests/world/world.ts';
import { axeFindings, type Browser, openBrowser, signIn } from './chromium.ts';
import { journey } from './journey.ts';

const password = 'correct horse battery staple';
const email = 'ada@example.org';
const stepMs = 30_000;
const elementMs = 20_000;
/** Codes count once: each set-up moves the clock of the platform to the next one. */
const clock = { ahead: 0 };
const now = () => Date.now() + clock.ahead;
let theirs: Browser;

async function prepare({ base, organizationId }: World): Promise<void> {
  const owner = await signInByRequest(base, 'admin@localhost');
  await addMember(base, owner, `/v3/organizations/${organizationId}`, email, 'EDITOR');
  theirs = await openBrowser(base);
  theirs.page.setDefaultTimeout(elementMs);
  await signIn(theirs.page, base, { email });
}

async function setUpApp(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Set up authenticator app' }).click();
  await page.getByLabel('Your password').fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copy key' }).waitFor();
  const secret = (await page.locator('dialog code').innerText()).replaceAll(' ', '');
  clock.ahead += stepMs;
  const code = CodeSecret.parse(secret).codeOf(Math.floor(now() / stepMs));
  await page.getByLabel('Code', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('button', { name: "I've saved my codes" }).click();
}

const close = async () => theirs?.close();

journey('demanded second factor', { start: () => startWorld({ now }), prepare, close }, (stage) => {
  const membersPath = () => `${stage.world.base}/o/${stage.world.organizationId}/settings/members`;
  const demand = async () => {
    const { page } = stage;
    await page.getByRole('checkbox', { name: /^Require MFA/ }).click();
    await page.getByRole('button', { name: 'Require MFA' }).click();
  };

  test('is refused to an owner without one, who would be shut out', async () => {
    const { page } = stage;
    await page.goto(membersPath());
    await demand();
    await page.getByRole('alert').getByText('You would lock yourself out').waitFor();
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('409')]);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  test('is switched on by an owner with an app, who cannot remove it then', async () => {
    const { page, world } = stage;
    await page.goto(`${world.base}/me/security`);
    await setUpApp(page);
    await page.goto(membersPath());
    await demand();
    await page.getByRole('status').getByText('MFA is now required').waitFor();
    await page.getByRole('checkbox', { name: /^Require MFA/, checked: true }).waitFor();
    await stage.inspect('second-factor-demand');
    await page.goto(`${world.base}/me/security`);
    await page.getByRole('button', { name: 'Remove authenticator app' }).click();
    await page.getByLabel('Your password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('one of your organizations requires MFA').waitFor();
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('409')]);
  });

  test('leads a member in the middle of the work to the page that says why', async () => {
    const { page, complaints } = theirs;
    const why = page.getByRole('heading', { name: 'Set up multi-factor authentication' });
    // Whatever the page asks for first leads there, which can be before the click.
    await Promise.any([why.waitFor(), page.getByRole('link', { name: 'Devices' }).first().click()]);
    await why.waitFor();
    await page.getByText('requires MFA').waitFor();
    expect(new URL(page.url()).pathname).toBe('/second-factor');
    const refused = complaints.splice(0);
    expect(refused.length).toBeGreaterThan(0);
    for (const complaint of refused) expect(complaint).toMatch(/40[13]|WebSocket/);
    await page.goto(stage.at('rules'));
    await page.waitForURL(/\/second-factor\?to=/);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('is met there by the member, who continues in the same session', async () => {
    const { page, complaints } = theirs;
    await setUpApp(page);
    // Until then, the live stream may try again and be refused.
    complaints.splice(0);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(/\/rules/);
    await page.getByRole('heading', { name: 'Rules' }).waitFor();
    expect(complaints.splice(0)).toEqual([]);
  });

  test('is reset by the owner; the member starts again with the password', async () => {
    const { page } = stage;
    await page.goto(membersPath());
    await page.getByRole('button', { name: `Reset MFA of ${email}` }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Reset', exact: true }).click();
    await page.getByText(`MFA of ${email} reset`).waitFor();
    await theirs.page.goto(`${stage.world.base}/`);
    await theirs.page.waitForURL(/\/sign-in/);
    await theirs.page.getByLabel('Email').fill(email);
    await theirs.page.getByLabel('Password').fill(password);
    await theirs.page.keyboard.press('Enter');
    await theirs.page
      .getByRole('heading', { name: 'Set up multi-factor authentication' })
      .waitFor();
  });

  test('is switched off; the member continues with the next page', async () => {
    const { page } = stage;
    await page.getByRole('checkbox', { name: /^Require MFA/ }).click();
    await page.getByText('MFA is no longer required').waitFor();
    await theirs.page.goto(`${stage.world.base}/`);
    await theirs.page.waitForURL(/\/(w\/|welcome)/);
  });
});

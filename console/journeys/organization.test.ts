// Organization and account in a real browser: a key made, used and deleted, an invitation, the audit log.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

journey('organization and account', { start: startWorld }, (stage) => {
  const keysPath = () => `${stage.world.base}/o/${stage.world.organizationId}/settings/keys`;

  test('a key is created with a preset, works as it says, and is deleted', async () => {
    const { page } = stage;
    await page.goto(keysPath());
    await page.getByRole('button', { name: 'Create API key' }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Name', { exact: true }).fill('Warehouse <img src=x onerror=alert(1)>');
    await page.getByLabel('Expires on').fill('2999-12-30');
    await page.getByRole('button', { name: 'Send data' }).click();
    await page.getByRole('checkbox', { name: 'rule read' }).check();
    await page.getByText('This key can read asset, rule; update asset').waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const secret = await page.locator('dialog code').first().innerText();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();

    const read = (path: string) =>
      fetch(stage.world.base + path, { headers: { 'x-api-key': secret } }).then(
        ({ status }) => status,
      );
    expect(await read(`/v3/assets?workspaceId=${stage.world.workspaceId}`)).toBe(200);
    expect(await read(`/v3/rules?workspaceId=${stage.world.workspaceId}`)).toBe(200);
    expect(await read(`/v3/organizations/${stage.world.organizationId}/members`)).toBe(403);

    await page
      .getByRole('cell', { name: 'Warehouse <img src=x onerror=alert(1)>', exact: true })
      .waitFor();
    await page.getByRole('cell', { name: /31.*2999|2999.*31/ }).waitFor();
    await page.getByRole('button', { name: /Delete Warehouse/ }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('status').getByText('deleted').waitFor();
    expect(await read(`/v3/assets?workspaceId=${stage.world.workspaceId}`)).toBe(401);
  });

  test('a refusal of the platform is shown where it was caused', async () => {
    const { page } = stage;
    await page.goto(keysPath());
    await page.route('**/v3/api-keys', (route) =>
      route.request().method() === 'POST'
        ? route.continue({ postData: '{"name":"x","organizationId":"28ffffffffffffff"}' })
        : route.continue(),
    );
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('x');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/Request ID [0-9a-f-]{36}/)
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.unroute('**/v3/api-keys');
    // Chromium reports every answer 4xx; this one is meant.
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('status of 4')]);
    await page.keyboard.press('Escape');
  });

  test('a member is invited and removed', async () => {
    const { page } = stage;
    await page.goto(`${stage.world.base}/o/${stage.world.organizationId}/settings/members`);
    await page.getByRole('button', { name: 'Invite member' }).click();
    await page.getByLabel('Email').fill('ada@example.org');
    await page.getByLabel('Role', { exact: true }).selectOption('ADMIN');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByText('/invitations/').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('cell', { name: 'ada@example.org', exact: true }).waitFor();
    await page.getByLabel('Role of ada@example.org').selectOption('MEMBER');
    await page.getByText('ada@example.org is now Member').waitFor();
    await page.getByRole('button', { name: 'Remove ada@example.org' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('ada@example.org removed').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test('the audit log says who changed what', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('cell', { name: /created API key Warehouse/i }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test('console M11: the audit log is limited to a kind or a person by a click', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'API key', exact: true }).first().click();
    const limit = page.getByRole('button', { name: 'Only API key' });
    await limit.waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'user', exact: true }).count()).toBe(0);
    await expect.poll(() => page.getByRole('cell', { name: /API key/ }).count()).toBeGreaterThan(0);
    await limit.click();
    await limit.waitFor({ state: 'detached' });
    expect(await axeFindings(page)).toEqual([]);
  });

  test('theme and language change in place and stay', async () => {
    const { page } = stage;
    await page.goto(`${stage.world.base}/me`);
    await page.getByRole('button', { name: 'Dark', exact: true }).click();
    await page.locator('html[data-theme="dark"]').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Deutsch' }).click();
    await page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'English' }).click();
  });

  test('a wrong password is refused at its field', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'Security' }).click();
    await page.getByLabel('Current password').fill('wrong');
    await page.getByLabel('New password').fill('several words are good');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('alert').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('status of 4')]);
  });

  test('sessions are listed, and that of another browser is ended', async () => {
    const { page, world } = stage;
    const signedIn = await fetch(`${world.base}/v3/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Firefox/140.0 (Android)' },
      body: JSON.stringify({ email: 'admin@localhost', password: 'correct horse battery staple' }),
    });
    const cookie = String(signedIn.headers.getSetCookie()[0]?.split(';')[0]);
    const status = () =>
      fetch(`${world.base}/v3/auth/me`, { headers: { cookie } }).then((answer) => answer.status);
    expect(await status()).toBe(200);
    await page.reload();
    await page.getByRole('cell', { name: 'Chrome, Linux this browser' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'End session in Firefox, Android' }).click();
    await page.getByText('1 session ended').waitFor();
    await page
      .getByRole('cell', { name: 'Firefox, Android', exact: true })
      .waitFor({ state: 'detached' });
    expect(await status()).toBe(401);
  });
});

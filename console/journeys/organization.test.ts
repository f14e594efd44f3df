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
    await page.getByRole('button', { name: 'Create a key' }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('What is it for?').fill('Warehouse <img src=x onerror=alert(1)>');
    await page.getByRole('button', { name: 'Send data' }).click();
    await page.getByRole('checkbox', { name: 'rule read' }).check();
    await page.getByText('This key may read asset, rule; update asset.').waitFor();
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
    await page.getByRole('button', { name: /Delete the key Warehouse/ }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('status').getByText('is deleted').waitFor();
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
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('What is it for?').fill('x');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/Request [0-9a-f-]{36}/)
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
    await page.getByRole('button', { name: 'Invite a member' }).click();
    await page.getByLabel('E-mail').fill('ada@example.org');
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
    await page.getByText('ada@example.org is removed').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test('the audit log says who changed what', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('cell', { name: /created API_KEY Warehouse/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test('theme and language change in place and stay', async () => {
    const { page } = stage;
    await page.goto(`${stage.world.base}/me`);
    await page.getByRole('button', { name: 'Dark', exact: true }).click();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Deutsch' }).click();
    await page.getByRole('heading', { name: 'Vorlieben' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Vorlieben' }).waitFor();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'English' }).click();
  });

  test('a wrong password is refused at its field', async () => {
    const { page } = stage;
    await page.getByLabel('Current password').fill('wrong');
    await page.getByLabel('New password').fill('several words are good');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('alert').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('status of 4')]);
  });
});

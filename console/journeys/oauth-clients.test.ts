// OAuth clients in a real browser: created, their token fetched by the shown command and used, rotated, deleted.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const run = promisify(execFile);

journey('OAuth clients', { start: startWorld }, (stage) => {
  let token = '';

  const open = () =>
    stage.page.goto(`${stage.world.base}/o/${stage.world.organizationId}/settings/clients`);

  async function tokenOf(command: string): Promise<string | undefined> {
    // The platform was configured with port 0, which its own address names.
    const here = command.replace('http://localhost:0', stage.world.base);
    const { stdout } = await run('sh', ['-c', here]);
    return (JSON.parse(stdout) as { readonly access_token?: string }).access_token;
  }

  const statusOf = async (path: string) => {
    const answer = await fetch(stage.world.base + path, {
      headers: { authorization: `Bearer ${token}` },
    });
    return answer.status;
  };

  test('an organization without clients says what they are for', async () => {
    await open();
    await stage.page.getByText('No OAuth clients yet').waitFor();
    await stage.inspect('clients-empty');
  });

  test('a client is created, and the shown command gets a token that works as the sentence says', async () => {
    const { page, world } = stage;
    await page.getByRole('button', { name: 'Create OAuth client' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Reporting <b>service</b>');
    await page.getByRole('button', { name: 'Send data' }).click();
    await page.getByRole('checkbox', { name: 'rule read' }).check();
    await page.getByText('This client can read asset, rule; update asset').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Client secret' });
    const command = await dialog.locator('code').first().innerText();
    await stage.inspect('clients-secret');
    token = (await tokenOf(command)) ?? '';
    expect(await statusOf(`/v3/assets?workspaceId=${world.workspaceId}`)).toBe(200);
    expect(await statusOf(`/v3/rules?workspaceId=${world.workspaceId}`)).toBe(200);
    expect(await statusOf(`/v3/data-flows?workspaceId=${world.workspaceId}`)).toBe(403);
    await dialog.getByRole('button', { name: 'Done' }).click();
  });

  test('what a client may do has an address', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'Reporting <b>service</b>' }).click();
    await page.waitForURL(/client=/);
    await page.reload();
    const dialog = page.getByRole('dialog', { name: /^Permissions of Reporting/ });
    await dialog
      .getByText('This client can read organization, asset, rule; update asset')
      .waitFor();
    await stage.inspect('clients-one');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await stage.inspect('clients');
  });

  test('a new secret ends the old one', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: /^Rotate secret of/ }).click();
    await page.getByRole('button', { name: 'Rotate secret', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Client secret' });
    const command = await dialog.locator('code').first().innerText();
    expect(await tokenOf(command)).toBeDefined();
    expect(await tokenOf(command.replace(/client_secret=\S+/, 'client_secret=old'))).toBe(
      undefined,
    );
    await dialog.getByRole('button', { name: 'Done' }).click();
  });

  test('a client is deleted on a phone', async () => {
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.inspect('clients-phone');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.getByRole('button', { name: /^Delete Reporting/ }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No OAuth clients yet').waitFor();
    await expect.poll(() => statusOf('/v3/assets'), { timeout: 60_000 }).toBe(401);
  });
});

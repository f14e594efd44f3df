// Sign-in by a provider on another site in a browser: there, back, and signing out of both.
import { expect, test } from 'vitest';
import { clientId, clientSecret, startOidcServer } from '../../tests/identity/oidc-server.ts';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

/** What the pages of the provider ask for and log. */
const providersOwn =
  /fonts\.googleapis\.com|ERR_NAME_NOT_RESOLVED|Autofocus processing|autocomplete attributes|^policy:/;

async function startWithProvider() {
  const server = await startOidcServer('127.0.0.1');
  const first = await startWorld();
  const { organizationId, directory } = first;
  await first.platform.close('the settings name what it created');
  const world = await startWorld({
    directory,
    environment: {
      OIDC_ISSUER: server.issuer,
      OIDC_CLIENT_ID: clientId,
      OIDC_CLIENT_SECRET: clientSecret,
      OIDC_LABEL: 'Example',
      OIDC_ROLES: `staff=ADMIN@${organizationId}`,
    },
  });
  server.allow(world.platform.publicUrl);
  const ada = { email: 'ada@example.org', email_verified: true, name: 'Ada', groups: ['staff'] };
  server.people.set('ada', ada).set('eve', { ...ada, email: 'eve@example.org', groups: [] });
  const close = async () => {
    await world.close();
    await server.close();
  };
  return { ...world, server, close };
}

journey(
  'sign-in by a provider',
  {
    start: startWithProvider,
    // Another site than the provider, so that Strict cookies do not come back with the redirect.
    base: ({ platform }) => platform.publicUrl,
    isSignedOut: true,
  },
  (stage) => {
    const signInAs = async (login: string) => {
      const { page } = stage;
      await page.getByRole('link', { name: 'Sign in with Example' }).click();
      await page.locator('input[name=login]').fill(login);
      await page.locator('input[name=password]').fill('any');
      await page.getByRole('button', { name: 'Sign-in' }).click();
      await page.getByRole('button', { name: 'Continue' }).click();
    };
    /** The pages of the provider are not ours, nor are their requests. */
    const ownComplaints = () =>
      stage
        .takeComplaints()
        .filter((line) => !line.includes(stage.world.server.issuer) && !providersOwn.test(line));

    test('the first sign-in leads through the provider to the page that was wanted', async () => {
      const { page } = stage;
      await stage.visit('devices?q=room');
      await page.waitForURL(/\/sign-in\?to=/);
      await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await signInAs('ada');
      await page.waitForURL(/\/devices\?q=room$/);
      await page.getByRole('heading', { name: 'Devices' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Devices' }).waitFor();
      const cookies = await stage.browser.context.cookies(stage.world.platform.publicUrl);
      expect(cookies.map(({ name, sameSite }) => [name, sameSite]).sort()).toEqual([
        ['csrf', 'Strict'],
        ['session', 'Strict'],
      ]);
      expect(ownComplaints()).toEqual([]);
    });

    test('signing out ends the session at the provider too', async () => {
      const { page } = stage;
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: /Yes, sign me out/i }).click();
      await page.waitForURL(/\/sign-in/);
      await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
      expect(ownComplaints()).toEqual([]);
    });

    test('a person without a group sees why, also with a screen reader', async () => {
      const { page } = stage;
      await signInAs('eve');
      await page.getByRole('alert').getByText('None of your groups has access').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      expect(ownComplaints()).toEqual([]);
    });
  },
);

// Passkeys in Chromium with a virtual authenticator: created, used to sign in and as second factor, renamed, removed.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey, type Stage } from './journey.ts';

const password = 'correct horse battery staple';

/** A fingerprint reader whose user always agrees. */
async function addAuthenticator({ browser, page }: Stage): Promise<void> {
  const devtools = await browser.context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

journey(
  'passkeys',
  {
    start: startWorld,
    // A host name, because an address has no passkeys.
    base: ({ platform }) => platform.publicUrl,
  },
  (stage) => {
    const signOut = () => stage.page.getByRole('button', { name: 'Sign out', exact: true }).click();

    test('one is created with the password, and recovery codes come with it', async () => {
      await addAuthenticator(stage);
      const { page, world } = stage;
      await page.goto(`${world.platform.publicUrl}/me/security`);
      await page.getByRole('button', { name: 'Add passkey' }).click();
      await page.getByLabel('Your password').fill(password);
      await page.keyboard.press('Enter');
      await page.getByRole('list', { name: 'Recovery codes' }).waitFor();
      await page.getByRole('button', { name: "I've saved my codes" }).click();
      await page.getByRole('button', { name: 'Rename Chrome, Linux' }).waitFor();
    });

    test('it is renamed; the page is right in both themes', async () => {
      const { page } = stage;
      await page.getByRole('button', { name: 'Rename Chrome, Linux' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Work laptop');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Rename Work laptop' }).waitFor();
      await page.getByText('Passkey added').waitFor({ state: 'hidden' });
      await stage.inspect('passkeys');
    });

    test('it signs in without name and password', async () => {
      const { page } = stage;
      await signOut();
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.waitForURL(/\/(w\/|welcome)/);
    });

    test('it is the second factor after the password', async () => {
      const { page } = stage;
      await signOut();
      await page.getByLabel('Email').fill('admin@localhost');
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: "Verify it's you" }).waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.waitForURL(/\/(w\/|welcome)/);
    });

    test('without it the platform says that it is not known', async () => {
      const { page, world } = stage;
      await page.goto(`${world.platform.publicUrl}/me/security`);
      await page.getByRole('button', { name: 'Remove Work laptop' }).click();
      await page.getByLabel('Your password').fill(password);
      await page.keyboard.press('Enter');
      await page.getByText('A passkey signs you in').waitFor();
      await signOut();
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByRole('alert').getByText('unknown passkey').waitFor();
      expect(stage.takeComplaints()).toEqual([expect.stringContaining('401')]);
    });
  },
);

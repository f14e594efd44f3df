// Mailed links in a real browser: an invitation and a new password, with links of real mails.
import { expect, test } from 'vitest';
import { type MailBox, openMailBox } from '../../tests/access/mail-box.ts';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

let box: MailBox;
const options = {
  isSignedOut: true,
  async start() {
    box = await openMailBox();
    return startWorld({
      environment: { SMTP_URL: box.url, MAIL_FROM: 'heliograph@example.org' },
    });
  },
  close: () => box.close(),
};
const email = 'ada@example.org';
const chosen = 'several words of my own';
const pathIn = (text: string) => /\/(?:invitations|password-reset)\/[\w-]{43}/.exec(text)?.[0];

journey('mailed links', options, (stage) => {
  let invitationPath: string;

  const open = (path: string | undefined) => stage.page.goto(`${stage.world.base}${path}`);
  const says = (title: string) => stage.page.getByRole('heading', { name: title }).waitFor();
  const refusals = () => expect(stage.takeComplaints()).toEqual([expect.stringMatching(/4\d\d/)]);

  /** A request of the signed-in user. */
  const post = (path: string, body: object) =>
    stage.page.evaluate(
      async ([url, sent]) => {
        const token = /csrf=([^;]+)/.exec(document.cookie)?.[1] ?? '';
        const headers = { 'content-type': 'application/json', 'x-csrf-token': token };
        const answer = await fetch(url, { method: 'POST', headers, body: sent });
        return (await answer.json()) as Record<string, string>;
      },
      [path, JSON.stringify(body)] as const,
    );

  test('an invitation is accepted with a name and a password that keeps to the rules', async () => {
    const { page, world } = stage;
    const path = `/v3/workspaces/${world.workspaceId}/members`;
    await world.must('POST', path, { email, role: 'VIEWER' });
    invitationPath = pathIn((await box.newest(email)).text) ?? '';
    await open(invitationPath);
    await page.getByText(`You were invited as ${email}`).waitFor();
    await stage.inspect('invitation');
    await page.getByLabel('Your name').fill('Ada <i>L</i>');
    await page.getByLabel('Choose a password').fill('password1234');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    refusals();
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('name')))
      .toBe('password');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Choose a password').fill(chosen);
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await page.waitForURL(/\/w\//);
    expect(page.url()).toContain(world.workspaceId);
  });

  test('a viewer sees before an edit what it needs', async () => {
    const { page } = stage;
    await stage.visit('settings/general');
    await page.getByText('Editing requires workspace: update').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await open('/welcome');
    await page.getByText("You don't have permission to add devices here").waitFor();
  });

  test('who has an account gives its password for the invitation of another organization', async () => {
    const { page } = stage;
    // Ada has proven her address, so she may create an organization and invite into it.
    const organization = await post('/v3/organizations', { name: 'Second' });
    const invited = { email: 'admin@localhost', role: 'VIEWER' };
    await post(`/v3/organizations/${organization['id']}/members`, invited);
    await open(pathIn((await box.newest(invited.email)).text));
    await says('Join Second');
    await page.getByText('You already have an account with this email').waitFor();
    await expect.poll(() => page.getByLabel('Your name').count()).toBe(0);
    await page.getByLabel('Your password').fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    refusals();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Your password').fill('correct horse battery staple');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/welcome$/);
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByText('admin@localhost').first().waitFor();
  });

  test('a used link and an unknown one say so', async () => {
    const { page } = stage;
    for (const path of [invitationPath, `/invitations/${'x'.repeat(43)}`]) {
      await open(path);
      await says('This link is no longer valid');
      refusals();
    }
    await stage.inspect('invitation-dead');
    await page.getByRole('link', { name: 'Sign in instead' }).click();
    await page.waitForURL(/\/sign-in$/);
  });

  test('a lost password is replaced with the mailed link, once', async () => {
    const { page } = stage;
    await open('/sign-in');
    await page.getByRole('link', { name: 'Forgot password?' }).click();
    await page.getByLabel('Email').fill(email);
    await stage.inspect('forgotten');
    const before = box.mails.filter(({ to }) => to === email).length;
    await page.getByRole('button', { name: 'Send reset link' }).click();
    await says('Check your email');
    await stage.inspect('forgotten-sent');
    const path = pathIn((await box.newest(email, before)).text);
    await open(path);
    await page.getByLabel('New password').fill('password1234');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('alert').waitFor();
    refusals();
    await stage.inspect('new-password');
    await page.getByLabel('New password').fill('other words of my own');
    await page.keyboard.press('Enter');
    await says('Password changed');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('other words of my own');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/w\//);

    await open(path);
    await page.getByLabel('New password').fill('third words of my own');
    await page.keyboard.press('Enter');
    await says('This link is no longer valid');
    refusals();
    await page.getByRole('link', { name: 'Send a new link' }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.inspect('new-password-dead-phone');
  });
});

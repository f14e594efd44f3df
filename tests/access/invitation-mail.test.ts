// Invitation mail: with a mail server, the invited user gets the link of the answer.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessWorld, addMember, password, startAccessWorld } from './access-world.ts';

interface Mail {
  readonly to: string;
  readonly text: string;
}

const mails: Mail[] = [];
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onRcptTo: ({ address }, _, done) =>
    done(
      address.startsWith('bad')
        ? Object.assign(new Error('no such user'), { responseCode: 550 })
        : null,
    ),
  onData(stream, { envelope }, done) {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      // Long lines are folded by a sign of equality at their end.
      const text = Buffer.concat(chunks).toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
      mails.push({ to: envelope.rcptTo.map(({ address }) => address).join(), text });
      done();
    });
  },
});
let at: AccessWorld;
let ofOrganization: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  at = await startAccessWorld({
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    MAIL_FROM: 'heliograph@example.org',
  });
  ofOrganization = `/v3/organizations/${at.world.organizationId}`;
});
afterAll(async () => {
  await at.close();
  await new Promise<void>((resolve) => server.close(resolve));
});

const mailTo = async (address: string): Promise<Mail> => {
  const find = () => mails.find(({ to }) => to === address);
  await expect.poll(find, { timeout: 60_000 }).toBeDefined();
  return find()!;
};

test('an invitation into an organization is mailed, and its link lets the person in', async () => {
  const draft = { email: 'New@Example.org', role: 'EDITOR' };
  const { invitationUrl } = await at.owner.must('POST', `${ofOrganization}/members`, draft);
  const { text } = await mailTo('new@example.org');
  expect(text).toContain("Subject: You're invited to Organization\r\n");
  expect(text).toContain('From: heliograph@example.org\r\n');
  const link = /^http\S+\/invitations\/[\w-]+$/m.exec(text.replaceAll('\r', ''))?.[0];
  // The mailed link is another one, because it proves that its holder reads the mail of that
  // address.
  expect(link).not.toBe(invitationUrl);
  const path = `/v3/auth/invitations/${link!.split('/').at(-1)}`;
  expect((await at.nobody.call('GET', path)).body).toMatchObject({ newUser: true });
  expect((await at.nobody.call('POST', path, { name: 'New', password })).status).toBe(200);
});

test('a user who is new to a workspace gets a mail, a member of the organization needs none', async () => {
  const members = `/v3/workspaces/${at.world.workspaceId}/members`;
  await addMember(at.base, at.owner, ofOrganization, 'known@example.org', 'MEMBER');
  await mailTo('known@example.org');
  const known = await at.owner.must('POST', members, {
    email: 'known@example.org',
    role: 'VIEWER',
  });
  expect(known.invitationUrl).toBeNull();
  const { invitationUrl } = await at.owner.must('POST', members, {
    email: 'other@example.org',
    role: 'VIEWER',
  });
  expect((await mailTo('other@example.org')).text).toMatch(/\/invitations\/[\w-]{43}/);
  expect((await mailTo('other@example.org')).text).not.toContain(invitationUrl);
  expect(mails.filter(({ to }) => to === 'known@example.org')).toHaveLength(1);
});

test('an address that the mail server refuses: the answer has the link all the same', async () => {
  const draft = { email: 'bad@example.org', role: 'VIEWER' };
  const answer = await at.owner.call('POST', `${ofOrganization}/members`, draft);
  expect(answer).toMatchObject({
    status: 201,
    body: { pending: true, invitationUrl: expect.any(String) },
  });
});

test('an invitation that is refused, or was not committed, is not mailed', async () => {
  const draft = { email: 'new@example.org', role: 'EDITOR' };
  const before = mails.length;
  expect((await at.owner.call('POST', `${ofOrganization}/members`, draft)).status).toBe(409);
  const last = { email: 'last@example.org', role: 'EDITOR' };
  await at.owner.must('POST', `${ofOrganization}/members`, last);
  await mailTo('last@example.org');
  expect(mails.slice(before).map(({ to }) => to)).toEqual(['last@example.org']);
});

// Contract 42: outputs of kinds that the installation lacks say so.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startWorld } from '../world/world.ts';

test('review behaviour D: an output whose setting was taken away is not available, with the reason', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-outputs-'));
  const environment = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@example.org' };
  const before = await startWorld({ directory, environment });
  const { workspaceId } = before;
  const mailProperties = { subjectTemplate: 'a', messageTemplate: 'b', recipients: ['a@b.org'] };
  const made = await before.must('POST', '/v3/output-connectors', {
    name: 'mail',
    workspaceId,
    type: 'MAIL',
    mailProperties,
  });
  expect(made).not.toHaveProperty('available');
  await before.close();
  const after = await startWorld({ directory });
  const told = { available: false, unavailableReason: 'The operator has not set SMTP_URL' };
  expect(await after.must('GET', `/v3/output-connectors/${made.id}`)).toMatchObject(told);
  const list = `/v3/output-connectors?workspaceId=${workspaceId}&search=mail`;
  expect((await after.must('GET', list)).content).toMatchObject([told]);
  await after.close();
  rmSync(directory, { recursive: true });
});

// Contract 42: a connector test needs `dataFlow` `update`, a template preview `read`; with a device both also need `asset` `read`.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Permissions } from '../../src/model/principal.ts';
import { type AccessWorld, startAccessWorld } from './access-world.ts';

let open: AccessWorld;
let output: string;
let device: string;
beforeAll(async () => {
  open = await startAccessWorld();
  const { owner, world } = open;
  const { workspaceId } = world;
  const webhookProperties = { uri: 'https://hooks.invalid/x', method: 'POST', headers: {} };
  const webhook = {
    name: 'hook',
    workspaceId,
    scope: 'DATA_FLOW',
    type: 'WEBHOOK',
    webhookProperties,
  };
  output = (await owner.must('POST', '/v3/output-connectors', webhook)).id;
  const made = await world.device();
  // The newest sample of the device is what is sent.
  await world.capture(made, { a: 1 });
  device = made.id;
});
afterAll(() => open.close());

const trials: Readonly<Record<string, (deviceId: object) => readonly [string, object]>> = {
  'the preview of a template': (of) => [
    '/v3/templates/preview',
    { workspaceId: open.world.workspaceId, template: '{{topic}}', ...of },
  ],
  'the test of an output': (of) => [`/v3/output-connectors/${output}/test`, of],
};
interface Case {
  readonly what: string;
  readonly permissions: Permissions;
  readonly plain: boolean;
  readonly withDevice: boolean;
}
const verbs = { 'the preview of a template': 'read', 'the test of an output': 'update' } as const;
const cases: readonly Case[] = Object.entries(verbs).flatMap(([what, verb]): Case[] => [
  { what, permissions: { dataFlow: [verb] }, plain: true, withDevice: false },
  { what, permissions: { dataFlow: [verb], asset: ['read'] }, plain: true, withDevice: true },
  { what, permissions: { asset: ['read'] }, plain: false, withDevice: false },
  { what, permissions: { rule: ['read'], asset: ['read'] }, plain: false, withDevice: false },
]);

test('security 8b: who may only read sends nothing', async () => {
  const reader = await open.key({ permissions: { dataFlow: ['read'], asset: ['read'] } });
  const { status, body } = await reader.call('POST', `/v3/output-connectors/${output}/test`, {});
  expect([status, body.errorCode]).toEqual([403, '40300_PERMISSION_DENIED']);
});

test.each(cases)('$what with $permissions', async ({ what, permissions, plain, withDevice }) => {
  const key = await open.key({ permissions });
  for (const [may, of] of [
    [plain, {}],
    [withDevice, { deviceId: device }],
  ] as const) {
    const [path, body] = trials[what]!(of);
    const { status } = await key.call('POST', path, body);
    expect([of, status === 403]).toEqual([of, !may]);
    if (may) expect(status).toBe(200);
  }
});

// Forwarded clients: those that wait for a node of their workspace share the places by organization.
import { expect, test } from 'vitest';
import type { DeviceConnector } from '../model/connector.ts';
import { problem } from '../model/problem.ts';
import { ForwardedClients } from './forwarded-clients.ts';
import type { Leases } from './leases/leases.ts';

test('security 2: clients of one organization that wait for a node leave places to those of others', async () => {
  const isHeld = Promise.withResolvers<void>();
  let isOwn = false;
  const leases: Pick<Leases, 'node' | 'held' | 'owners'> = {
    node: { id: 'here', url: 'http://127.0.0.1:1' },
    held: (name) => (isOwn ? { name, epoch: 1, isValid: () => true } : undefined),
    owners: () => new Map(),
  };
  const clients = new ForwardedClients(
    leases,
    { refresh: () => Promise.resolve(), now: () => 0, wait: () => isHeld.promise },
    () => Promise.reject(new Error('no other node')),
    () => () => undefined,
  );
  const placeOf = clients.placeBy({
    connectorOf: (id) => ({ id, organizationId: id, workspaceId: id }) as DeviceConnector,
    devicesOf: () => Promise.resolve([]),
    signerOf: () => Promise.resolve(undefined),
  });
  const login = (userName: string) =>
    placeOf(
      { clientId: '', userName, password: 'p' },
      { address: '::1', network: '::1', isWebSocket: false },
    ).then(
      (place) => place?.organizationId,
      (error: Error) => error.message,
    );
  const answers = Array.from({ length: 1_000 }, () => login('large'));
  const small = login('small');
  const soon = new Promise<string>((resolve) => setImmediate(() => resolve('waits')));
  expect(await Promise.race([small, soon])).toBe('waits');
  const refused = new Set(await Promise.all(answers.slice(750)));
  expect([...refused]).toEqual([problem('deviceWithoutOwner').message]);
  isOwn = true;
  isHeld.resolve();
  expect(await small).toBe('small');
  expect(await Promise.all(answers.slice(0, 750))).toEqual(
    answers.slice(0, 750).map(() => 'large'),
  );
  clients.close();
});

// Stream revocation: which record changes end which live connections.
import { expect, test } from 'vitest';
import type { Principal } from '../model/principal.ts';
import type { RecordChange } from '../model/record.ts';
import { createStreamRevocation } from './stream-revocation.ts';

const grant: Principal = {
  kind: 'USER',
  id: 'u1',
  name: 'u1',
  organizationId: 'o1',
  workspaces: new Set(['w1', 'w2']),
  permissions: { asset: ['read'] },
};
const withGrant = (sessionId: string, change: Partial<Principal>): Principal => ({
  ...grant,
  sessionId,
  inOrganizations: new Map([['o1', { ...grant, ...change }]]),
});
const key: Principal = { ...grant, kind: 'API_KEY', id: 'k1' };
const client: Principal = { ...grant, kind: 'OAUTH_CLIENT', id: 'c1', organizationId: 'o2' };
const user = withGrant('s1', {});
const sameRights = withGrant('s1', { workspaces: new Set(['w2', 'w1']) });

const kinds = { key, client, user } as const;
type Name = keyof typeof kinds;

async function endedBy(change: RecordChange, current: Principal | undefined): Promise<Name[]> {
  const open = new Set(Object.keys(kinds) as Name[]);
  const ended: Name[] = [];
  const failures: unknown[] = [];
  const { recordChanged } = createStreamRevocation(
    {
      restart: () => undefined,
      endSessions(isEnded) {
        for (const name of open) {
          if (!isEnded(kinds[name])) continue;
          open.delete(name);
          ended.push(name);
        }
      },
    },
    { current: async () => current },
    (error) => failures.push(error),
  );
  recordChanged(change);
  await new Promise((resolve) => setImmediate(resolve));
  expect(failures).toEqual([]);
  return ended;
}

test.each<[RecordChange, Principal | undefined, Name[]]>([
  [{ kind: 'apiKey', id: 'k1', action: 'deleted' }, user, ['key']],
  [{ kind: 'apiKey', id: 'k1', action: 'updated' }, user, []],
  [{ kind: 'apiKey', id: 'other', action: 'deleted' }, user, []],
  [{ kind: 'oauthClient', id: 'c1', action: 'deleted' }, user, ['client']],
  [{ kind: 'oauthClient', id: 'k1', action: 'deleted' }, user, []],
  [{ kind: 'organization', id: 'o2', action: 'deleted' }, user, ['client']],
  [{ kind: 'organization', id: 'o1', action: 'deleted' }, user, ['key', 'user']],
  [{ kind: 'session', id: 's1', action: 'deleted' }, undefined, ['user']],
  [{ kind: 'session', id: 's2', action: 'deleted' }, sameRights, []],
  [
    { kind: 'member', id: 'm1', userId: 'u1', action: 'updated' },
    withGrant('s1', { permissions: {} }),
    ['user'],
  ],
  [{ kind: 'user', id: 'u1', action: 'updated' }, withGrant('s1', { workspaces: 'all' }), ['user']],
  [{ kind: 'member', id: 'm1', userId: 'u2', action: 'updated' }, undefined, []],
  [{ kind: 'user', id: 'u2', action: 'updated' }, undefined, []],
  [{ kind: 'organization', id: 'o3', action: 'deleted' }, undefined, []],
  [{ kind: 'device', id: 'u1', action: 'deleted' }, undefined, []],
])('%j', async (change, current, ended) => {
  expect(await endedBy(change, current)).toEqual(ended);
});

test('a check of users that fails is reported', async () => {
  const failure = Promise.withResolvers<unknown>();
  const { recordChanged } = createStreamRevocation(
    { endSessions: (isEnded) => void isEnded(user), restart: () => undefined },
    { current: () => Promise.reject(new Error('locked')) },
    failure.resolve,
  );
  recordChanged({ kind: 'user', id: 'u1', action: 'updated' });
  expect(String(await failure.promise)).toBe('Error: locked');
});

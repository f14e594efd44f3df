// Stream revocation: which live connections end when users change, also when sessions cannot be read.
import { expect, test } from 'vitest';
import type { Principal } from '../model/principal.ts';
import { createStreamRevocation } from './stream-revocation.ts';

const principal = (sessionId: string, name = 'before'): Principal =>
  ({
    kind: 'USER',
    id: `user of ${sessionId}`,
    name: sessionId,
    sessionId,
    organizationId: 'o',
    inOrganizations: new Map([
      ['o', { organizationId: 'o', workspaces: 'all', permissions: name }],
    ]),
  }) as unknown as Principal;

/** Sessions, and what each is read as after the change. */
async function changed(of: ReadonlyMap<string, Principal | undefined | Error>) {
  const open = new Map([...of.keys()].map((id) => [id, principal(id)]));
  const failed = Promise.withResolvers<unknown>();
  const rounds: string[][] = [];
  let read = 0;
  const { recordChanged } = createStreamRevocation(
    {
      endSessions(isEnded) {
        const ended = [...open.values()].filter(isEnded).map(({ sessionId = '' }) => sessionId);
        for (const id of ended) open.delete(id);
        if (ended.length > 0) rounds.push(ended);
      },
      restart: () => undefined,
    },
    {
      async current(sessionId: string) {
        read += 1;
        const found = of.get(sessionId);
        if (found instanceof Error) throw found;
        return found;
      },
    },
    failed.resolve,
  );
  recordChanged({ kind: 'organization', id: 'o', action: 'updated' });
  while (read < of.size) await new Promise((resolve) => void setImmediate(resolve));
  await new Promise((resolve) => void setImmediate(resolve));
  return { left: [...open.keys()], rounds, failed: failed.promise };
}

test('those end whose session is over, has other rights, or cannot be read', async () => {
  const error = new Error('no database');
  const { left, failed } = await changed(
    new Map<string, Principal | undefined | Error>([
      ['unreadable', error],
      ['as before', principal('as before')],
      ['over', undefined],
      ['restricted', principal('restricted', 'after')],
    ]),
  );
  expect(left).toEqual(['as before']);
  expect(await failed).toMatchObject({ errors: [error] });
});

test('the first end before all sessions are read', async () => {
  const many = Array.from({ length: 70 }, (_, n) => [`s${n}`, undefined] as const);
  const { left, rounds } = await changed(new Map(many));
  expect(left).toEqual([]);
  expect(rounds.map(({ length }) => length)).toEqual([32, 32, 6]);
});

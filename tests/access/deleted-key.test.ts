// Deleted keys: no request is accepted that was sent after the deletion was answered.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessWorld, actingBy, startAccessWorld } from './access-world.ts';

let open: AccessWorld;
beforeAll(async () => {
  open = await startAccessWorld();
});
afterAll(() => open.close());

const clients = 8;

test('review security: a deleted key ends immediately, also for requests that are in progress', async () => {
  const { owner, world } = open;
  const { organizationId, workspaceId, base } = world;
  const permissions = { asset: ['read', 'create'] };
  for (let round = 0; round < 5; round++) {
    const made = await owner.must('POST', '/v3/api-keys', {
      name: `short-lived ${round}`,
      organizationId,
      permissions,
    });
    const caller = actingBy(base, { 'x-api-key': made.secret });
    const answers: { status: number; sentAfter: boolean; name: string | undefined }[] = [];
    let isDeleted = false;
    let isEnded = false;
    const ask = async (client: number): Promise<void> => {
      for (let i = 0; !isEnded; i++) {
        const sentAfter = isDeleted;
        const name = client % 2 === 0 ? undefined : `tag ${round} ${client} ${i}`;
        const { status } = await (name === undefined
          ? caller.call('GET', `/v3/tags?workspaceId=${workspaceId}`)
          : caller.call('POST', '/v3/tags', { name, workspaceId }));
        answers.push({ status, sentAfter, name });
      }
    };
    const asking = Array.from({ length: clients }, (_, client) => ask(client));
    await expect.poll(() => answers.length).toBeGreaterThan(2 * clients);
    expect((await owner.call('DELETE', `/v3/api-keys/${made.id}`)).status).toBeLessThan(300);
    isDeleted = true;
    await expect
      .poll(() => answers.filter(({ sentAfter }) => sentAfter).length)
      .toBeGreaterThan(2 * clients);
    isEnded = true;
    await Promise.all(asking);
    const statuses = (sentAfter: boolean) =>
      [
        ...new Set(
          answers.filter((one) => one.sentAfter === sentAfter).map(({ status }) => status),
        ),
      ].sort();
    expect(statuses(true)).toEqual([401]);
    expect(statuses(false).filter((status) => ![200, 201, 401].includes(status))).toEqual([]);
    expect(statuses(false)).toEqual(expect.arrayContaining([200, 201]));
    // What was refused made nothing.
    const { content } = await owner.must('GET', `/v3/tags?workspaceId=${workspaceId}&size=1000`);
    const there = new Set(content.map(({ name }: { name: string }) => name));
    for (const { status, name } of answers)
      if (name !== undefined) expect([name, there.has(name)]).toEqual([name, status === 201]);
  }
});

// Owner search of many devices: each goes to its owner, and to the next one after a move.
import { expect, test } from 'vitest';
import type { NodeAddress } from '../../model/node-messages.ts';
import { problem } from '../../model/problem.ts';
import { askOwners, ownerSearchLimits, ignoreUnsent } from './owner-search.ts';
import { NodeUnreachable } from './nodes.ts';

const nodeOf = (id: string): NodeAddress => ({ id, url: `http://${id}` });

/** Items are named after the nodes that own them one after the other; `-` means none. */
async function ask(
  items: readonly string[],
  answer: (node: string, items: readonly string[]) => readonly string[] = () => [],
) {
  let turn = 0;
  const asked: string[] = [];
  const ownerOf = (item: string) => item[Math.min(turn, item.length - 1)] ?? '-';
  const own = await askOwners(
    items,
    (item) => ({
      isOwn: () => ownerOf(item) === 'S',
      owner: () => (ownerOf(item) === '-' ? undefined : nodeOf(ownerOf(item))),
    }),
    {
      refresh: async () => void turn++,
      now: () => turn * ownerSearchLimits.pollMs,
      wait: async () => undefined,
    },
    async ({ id }, ofNode) => {
      asked.push(`${id}: ${ofNode.join(' ')}`);
      return answer(id, ofNode);
    },
  );
  return { own, asked };
}

test.each<[string, string[], string[], string[]]>([
  ['all of this node', ['S', 'S'], ['S', 'S'], []],
  ['those of one node together', ['a', 'b', 'S', 'a'], ['S'], ['a: a a', 'b: b']],
  ['one without an owner at first', ['-a', 'b'], [], ['b: b', 'a: -a']],
  ['one that becomes an own one', ['-S', 'b'], ['-S'], ['b: b']],
])('%s', async (_, items, own, asked) => {
  expect(await ask(items)).toEqual({ own, asked });
});

test('what a node does not hold is asked of the next owner', async () => {
  const { own, asked } = await ask(['ab', 'a', 'aS'], (node, items) =>
    node === 'a' ? items.filter((item) => item.length > 1) : [],
  );
  expect({ own, asked }).toEqual({ own: ['aS'], asked: ['a: ab a aS', 'b: ab'] });
});

test('without an owner it ends with 503 after the time of the search', async () => {
  await expect(ask(['-'])).rejects.toMatchObject({ problem: 'deviceWithoutOwner' });
});

test('all nodes have answered when the first failure is thrown', async () => {
  const answered: string[] = [];
  await expect(
    ask(['a', 'b'], (node) => {
      answered.push(node);
      if (node === 'a') throw problem('storageFull');
      return [];
    }),
  ).rejects.toMatchObject({ problem: 'storageFull' });
  expect(answered).toEqual(['a', 'b']);
});

test('a call that was not sent has no answer, one that may have been is a 503', async () => {
  const failing = (wasSent: boolean) =>
    ignoreUnsent(Promise.reject(new NodeUnreachable(nodeOf('a'), wasSent, 'gone')));
  expect(await failing(false)).toBeUndefined();
  await expect(failing(true)).rejects.toMatchObject({ problem: 'nodeUnreachable' });
});

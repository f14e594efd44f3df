// Items of the palette: each is found by the words of its label, and by those that people type instead.
import { Plus } from 'lucide-react';
import { expect, test } from 'vitest';
import { matching } from './palette-search.ts';

const labels = ['Create rule', 'Rules', 'Sign out'];
const group = {
  name: 'Pages',
  items: labels.map((label) => ({
    id: label,
    label,
    alsoFoundBy: label.startsWith('Create') ? 'new add' : undefined,
    icon: Plus,
    run: () => undefined,
  })),
};

test.each([
  ['rule', ['Create rule', 'Rules']],
  ['new rule', ['Create rule']],
  ['RULE ad', ['Create rule']],
  ['new', ['Create rule']],
  ['old rule', []],
  ['', labels],
])('"%s" finds %j', (words, found) => {
  expect(matching(group, words).items.map(({ label }) => label)).toEqual(found);
});

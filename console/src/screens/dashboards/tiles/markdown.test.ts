// Markdown of text tiles: what is read, and that no link can run code.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Block, type Inline, readMarkdown } from './text-tile.tsx';

const text = (one: string): Inline => ({ kind: 'text', text: one });
const paragraph = (...inlines: Inline[]): Block => ({ kind: 'paragraph', inlines });

test.each<[string, readonly Block[]]>([
  ['', []],
  ['a\nb\n\nc', [paragraph(text('a\nb')), paragraph(text('c'))]],
  ['## Ground floor', [{ kind: 'heading', level: 2, inlines: [text('Ground floor')] }]],
  ['###### deep', [{ kind: 'heading', level: 3, inlines: [text('deep')] }]],
  [
    'is **hot** or *cold*, see `t`',
    [
      paragraph(
        text('is '),
        { kind: 'strong', text: 'hot' },
        text(' or '),
        { kind: 'emphasis', text: 'cold' },
        text(', see '),
        { kind: 'code', text: 't' },
      ),
    ],
  ],
  [
    '- a\n- b\n1. c',
    [
      { kind: 'list', isOrdered: false, items: [[text('a')], [text('b')]] },
      { kind: 'list', isOrdered: true, items: [[text('c')]] },
    ],
  ],
  [
    '[plan](https://plans.test/a?b=1)',
    [paragraph({ kind: 'link', text: 'plan', href: 'https://plans.test/a?b=1' })],
  ],
  ['[x](javascript:alert`1`)', [paragraph(text('[x](javascript:alert`1`)'))]],
  ['[x](//other.test)', [paragraph(text('[x](//other.test)'))]],
  ['<b>&amp;', [paragraph(text('<b>&amp;'))]],
])('%j', (source, blocks) => {
  expect(readMarkdown(source)).toEqual(blocks);
});

test('property: every link is of the web or of the console', () => {
  const word = fc.constantFrom(
    '[a](',
    ')',
    'javascript:',
    'data:',
    '//',
    'https://a',
    '/w',
    '*',
    '\n- ',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(word, fc.string({ maxLength: 5 }))), (words) => {
      const blocks = readMarkdown(words.join(''));
      const inlines = blocks.flatMap((block) =>
        block.kind === 'list' ? block.items.flat() : block.inlines,
      );
      for (const inline of inlines)
        if (inline.kind === 'link') expect(inline.href).toMatch(/^(https?:\/\/|\/(?!\/))/i);
    }),
  );
});

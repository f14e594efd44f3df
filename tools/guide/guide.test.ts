// Guide: every link leads to a page and a heading, pages need no script, and examples do what is written below them.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { addressOf, guidePageOf, headingId } from './guide-page.ts';
import { writeGuide } from './guide-output.ts';
import { guidePages } from './guide-pages.ts';

const root = join(import.meta.dirname, '..', '..');
const output = mkdtempSync(join(tmpdir(), 'heliograph-guide-'));
const folder = join(output, 'docs', 'guide');
let world: World;
beforeAll(async () => {
  writeGuide(root, output);
  world = await startWorld();
});
afterAll(async () => {
  rmSync(output, { recursive: true });
  await world.close();
});

const htmlOf = (slug: string) => readFileSync(join(folder, `${slug || 'index'}.html`), 'utf8');
const markdownOf = (name: string) => readFileSync(join(root, 'docs/guide', name), 'utf8');

test('each document of the guide is a page', () => {
  const listed = guidePages.map(({ source }) => source);
  for (const name of readdirSync(join(root, 'docs/guide')))
    expect(listed).toContain(`docs/guide/${name}`);
  expect(new Set(guidePages.map(addressOf)).size).toBe(guidePages.length);
});

test('each link between pages leads to a page, and each anchor to a heading', () => {
  const pages = new Map(guidePages.map((page) => [addressOf(page), htmlOf(page.slug)]));
  const broken = [...pages].flatMap(([from, html]) =>
    [...html.matchAll(/href="(?:(\/docs\/guide[^"#]*))?(?:#([^"]+))?"/g)]
      .filter(([href, path]) => href !== '' && path?.endsWith('.css') !== true)
      .filter(([, path = from, id]) => {
        const target = pages.get(path);
        return target === undefined || (id !== undefined && !target.includes(`id="${id}"`));
      })
      .map(([href]) => `${from}: ${href}`),
  );
  expect(broken).toEqual([]);
});

test('documents are shown as they are written, and run nothing', () => {
  const [page] = guidePages;
  if (page === undefined) throw new Error('no page');
  const html = guidePageOf(
    page,
    '# A <b>\n\nIt <script>alert(1)</script> [x](../none.md) [y](start.md#a)\n',
  );
  expect(html).toContain(
    'It &lt;script&gt;alert(1)&lt;/script&gt; x <a href="/docs/guide/start#a">y</a>',
  );
  expect([...html.matchAll(/<script/g)]).toHaveLength(1);
  expect(headingId('What `a` is: 1, 2')).toBe('what-a-is-1-2');
});

const example =
  /```js\n(?<script>[^]*?)```\n\n```json event\n(?<event>[^]*?)```\n\n```json emits\n(?<emits>[^]*?)```/g;
const decoders = markdownOf('decoders.md');
const examples = [...decoders.matchAll(example)].map(({ groups = {} }) => groups);

test('each example of the page about decoders has its event and its emits', () => {
  expect(examples.length).toBeGreaterThan(8);
  expect(examples).toHaveLength([...decoders.matchAll(/```js\n/g)].length);
});

describe('examples of decoders', () => {
  test.each(examples.map((groups) => [groups['script']?.split('\n')[1]?.trim(), groups] as const))(
    '%s',
    async (_, { script = '', event = '', emits = '' }) => {
      const given = { timestamp: '2026-01-05T12:00:00.000Z', state: {}, ...JSON.parse(event) };
      const answer = await world.call('POST', '/v3/run-script', { script, event: given });
      expect(answer).toMatchObject({ status: 200, body: JSON.parse(emits) as object });
      expect(answer.body).toHaveLength((JSON.parse(emits) as unknown[]).length);
    },
  );
});

// Templates: all places and types, missing values, invalid templates, and escaping in each place.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../model/json.ts';
import { Problem } from '../../model/problem.ts';
import { contextPrefixes, type TemplateContext } from '../../model/template-context.ts';
import { valueAt } from '../../model/sample.ts';
import { parseTemplate, renderTemplate, templateLimits, type TemplatePlace } from './template.ts';

const context: TemplateContext = {
  data: {
    t: 21.5,
    ok: true,
    name: 'A "quoted" näme\n',
    nothing: null,
    deep: { a: { b: 1 } },
    'x.y': 7,
    list: [{ v: 1 }, 2],
  },
  meta: {},
  topic: 'default',
  timestamp: '2026-01-01T00:00:00.000Z',
  deviceId: 'physical',
  svcDeviceId: '02aa',
  akenzaDeviceId: '02aa',
  device: { name: 'Röntgen & Co', customFields: { 'Floor plan': 'EG 1' } },
  dataSources: { '1': { data: { t: 3 }, trigger: true } as never },
  result: { data: { sum: 4 }, topic: 'sums' },
};

const fill = (text: string, place: TemplatePlace = 'json') =>
  renderTemplate(parseTemplate(text, place), context);

const json: readonly (readonly [string, unknown])[] = [
  ['{"t": {{data.t}}}', { t: 21.5 }],
  ['{"t":{{ data.t }},"ok":{{data.ok}}}', { t: 21.5, ok: true }],
  ['{"n":{{data.name}}}', { n: 'A "quoted" näme\n' }],
  [
    '{"n":{{data.nothing}},"m":{{data.missing}},"c":{{correlationId}},"r":{{rule.name}}}',
    { n: null, m: null, c: null, r: null },
  ],
  ['{{data.deep}}', { a: { b: 1 } }],
  ['{"a":{"b":{{data.deep.a.b}}}}', { a: { b: 1 } }],
  ['{{{data.name}}:1}', { 'A "quoted" näme\n': 1 }],
  [
    '[{{data.x.y}},{{data.list.0.v}},{{data.list.1}},{{data.list.9}},{{data.list.v}}]',
    [7, 1, 2, null, null],
  ],
  ['{"f":{{device.customFields.Floor plan}}}', { f: 'EG 1' }],
  [
    '{"r":{{result}},"d":{{result.data}},"s":{{result.data.sum}}}',
    { r: context.result, d: { sum: 4 }, s: 4 },
  ],
  [
    '{"x":{{dataSources.1.data.t}},"y":{{dataSources.1.trigger}},"z":{{dataSources.2.data.t}}}',
    { x: 3, y: true, z: null },
  ],
  [
    '{"a":{{akenzaDeviceId}},"s":{{svcDeviceId}},"d":{{deviceId}}}',
    { a: '02aa', s: '02aa', d: 'physical' },
  ],
  [
    '{"a":"\\"","b":{{topic}},"c":"\\\\","d":{{topic}}}',
    { a: '"', b: 'default', c: '\\', d: 'default' },
  ],
];

describe('interface 2.11: in JSON a value is written by its type', () => {
  for (const [template, expected] of json)
    test(template, () => expect(JSON.parse(fill(template))).toEqual(expected));
});

const quotes: readonly (readonly [string, unknown])[] = [
  ['{"t":"{{data.t}}","n":"{{data.name}}"}', { t: 21.5, n: 'A "quoted" näme\n' }],
  ['{"o":"{{data.deep}}","m":"{{data.missing}}"}', { o: { a: { b: 1 } }, m: null }],
  ['{"x":"{{data.t}} °C at {{device.name}}"}', { x: '21.5 °C at Röntgen & Co' }],
  [
    '{"x":"{{data.name}}!{{data.missing}}","y":" {{data.deep}}"}',
    { x: 'A "quoted" näme\n!', y: ' {"a":{"b":1}}' },
  ],
  ['{"{{topic}}":1,"{{data.t}}" : 2}', { default: 1, '21.5': 2 }],
  ['{"x":"\\"{{topic}}\\""}', { x: '"default"' }],
];

describe('contract 29: expressions in quotes, as old templates have them, and within longer strings', () => {
  for (const [template, expected] of quotes)
    test(template, () => expect(JSON.parse(fill(template))).toEqual(expected));
});

const texts: readonly (readonly [TemplatePlace, string, string])[] = [
  [
    'text',
    'It is {{data.t}} °C in {{device.name}}{{data.missing}}{{data.nothing}}.',
    'It is 21.5 °C in Röntgen & Co.',
  ],
  ['text', '"{{data.ok}}" {{data.deep}}', '"true" {"a":{"b":1}}'],
  ['text', 'no expression } { }} at all', 'no expression } { }} at all'],
  [
    'url',
    'https://h/{{device.name}}?q={{data.name}}&n={{data.missing}}',
    'https://h/R%C3%B6ntgen%20%26%20Co?q=A%20%22quoted%22%20n%C3%A4me%0A&n=',
  ],
];

describe('contract 29: plain text and URLs', () => {
  for (const [place, template, expected] of texts)
    test(template, () => expect(fill(template, place)).toBe(expected));
});

const wrong: readonly (readonly [string, TemplatePlace, RegExp])[] = [
  [
    '{"a":\n {{foo.bar}}}',
    'json',
    /\{\{foo\.bar\}\} at line 2, column 2 starts with the unknown property foo/,
  ],
  ['a {{data.x', 'text', /\{\{data\.x at line 1, column 3 is not closed/],
  ['{{data.{{x}}}}', 'text', /at line 1, column 1 is not closed/],
  ['{{}}', 'text', /is empty/],
  ['{{data..x}}', 'text', /an empty path segment/],
  ['{{data.}}', 'text', /an empty path segment/],
  ['{{.data}}', 'text', /an empty path segment/],
  ['{{Data.x}}', 'text', /unknown property Data/],
  ['{{__proto__}}', 'text', /unknown property __proto__/],
  ['{{data.a}b}}', 'text', /contains a brace/],
  [`{{data.${'a'.repeat(600)}}}`, 'text', /is too long/],
  ['https://{{data.host}}/x', 'url', /is not allowed in the scheme or host/],
  ['{{data.url}}', 'url', /is not allowed in the scheme or host/],
  ['https://a.{{topic}}.example/x', 'url', /is not allowed in the scheme or host/],
  ['x'.repeat(templateLimits.charactersMax + 1), 'text', /must be at most/],
  ['{{topic}}'.repeat(templateLimits.expressionsMax + 1), 'text', /at most 1000 expressions/],
];

describe('contract 35: what is wrong is refused when the template is made, with the expression and its position', () => {
  for (const [template, place, reason] of wrong) {
    test(template.slice(0, 60), () => {
      const parse = () => parseTemplate(template, place, 'body customPayload');
      expect(parse).toThrow(Problem);
      expect(parse).toThrow(reason);
      expect(parse).toThrow(/^body customPayload: /);
    });
  }
});

test('a result longer than the limit is refused, not truncated', () => {
  const template = parseTemplate('{{data}}'.repeat(900), 'text');
  const large = { data: { x: 'y'.repeat(2_000) } };
  expect(() => renderTemplate(template, large)).toThrow(/exceeds 1048576 characters/);
});

test('inherited members are not values', () => {
  for (const path of ['data.constructor', 'data.__proto__', 'data.toString', 'data.list.length'])
    expect(fill(`{{${path}}}`)).toBe('null');
});

const key = fc.stringMatching(/^[a-z]{1,3}([._-][a-z]{1,3}){0,2}$/);
const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;

test('property: whatever the values, JSON stays JSON and holds them unchanged, quoted or not', () => {
  fc.assert(
    fc.property(
      fc.dictionary(key, value, { minKeys: 1, maxKeys: 4 }),
      fc.boolean(),
      (data, isQuoted) => {
        const quote = isQuoted ? '"' : '';
        const keys = Object.keys(data);
        const template = `[${keys.map((one) => `${quote}{{data.${one}}}${quote}`).join(' , ')}]`;
        const filled = renderTemplate(parseTemplate(template, 'json'), { data });
        const expected = keys.map((one) => valueAt(data, one) ?? null);
        expect(filled).toBe(`[${expected.map((each) => JSON.stringify(each)).join(' , ')}]`);
        JSON.parse(filled);
      },
    ),
  );
});

test('property: no value breaks out of a JSON string or of a part of a URL', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      const data = { a, b };
      const filled = renderTemplate(parseTemplate('{"x":"<{{data.a}}|{{data.b}}>"}', 'json'), {
        data,
      });
      expect(JSON.parse(filled)).toEqual({ x: `<${a}|${b}>` });
      const url = new URL(
        renderTemplate(parseTemplate('https://h.example/x?a={{data.a}}&b={{data.b}}', 'url'), {
          data,
        }),
      );
      expect([url.host, url.pathname, url.hash]).toEqual(['h.example', '/x', '']);
      expect([url.searchParams.get('a'), url.searchParams.get('b')]).toEqual([
        a.toWellFormed(),
        b.toWellFormed(),
      ]);
    }),
  );
});

test('property: any text is read or refused with a Problem, quickly, and what is read can be filled in', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '{{',
      '}}',
      '{',
      '}',
      '"',
      '\\',
      '.',
      ' ',
      '\n',
      'data',
      'data.x',
      ...contextPrefixes,
    ),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 60 }),
      fc.constantFrom('json', 'text', 'url'),
      (pieces, place) => {
        const text = pieces.join('');
        try {
          const template = parseTemplate(text, place);
          expect(typeof renderTemplate(template, context)).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a long run of open braces is read in linear time', () => {
  const before = process.threadCpuUsage();
  for (const text of [
    '{'.repeat(200_000),
    '{{'.repeat(100_000),
    '{{data'.repeat(40_000),
    '"'.repeat(200_000),
  ]) {
    try {
      parseTemplate(text, 'json');
    } catch (error) {
      expect(error).toBeInstanceOf(Problem);
    }
  }
  // Processor time, because the clock also counts what else the machine does.
  expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(500);
});

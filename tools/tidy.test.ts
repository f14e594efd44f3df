// Tidy catches a planted violation of each rule, and only that.
import { expect, test } from 'vitest';
import { codeMap } from './code-map.ts';
import { plantedProject } from './fixture-project.ts';
import { violationText } from './tidy/violation.ts';
import { tidyViolations } from './tidy/house-rules.ts';
import { projectFiles } from './tidy/project-files.ts';

const caption = '// A file that says what it is for.\n';
const lines = (count: number) => `${caption}${'export {};\n'.repeat(count - 1)}`;
const code = (line: string) => `${caption}${line}\n`;

const record =
  '# 1. Title\n\nStatus: accepted.\n\n## Context\nA.\n\n## Decision\nB.\n\n## Consequences\nC.\n';

interface Case {
  readonly rule: string;
  readonly path: string;
  readonly text: string;
  /** Part of the violation's message, or undefined for a valid file. */
  readonly violation?: string;
}

const cases: readonly Case[] = [
  {
    rule: 'no caption',
    path: 'src/model/sample.ts',
    text: 'export {};\n',
    violation: 'the first line is a comment',
  },
  {
    rule: 'a caption without end',
    path: 'src/model/sample.ts',
    text: '// Samples and other things of it\n',
    violation: ':1:',
  },
  {
    rule: 'a caption below #!',
    path: 'bin/heliograph.js',
    text: `#!/usr/bin/env node\n${caption}`,
  },
  {
    rule: 'a bag as a file',
    path: 'src/model/utils.ts',
    text: caption,
    violation: '"utils" says nothing',
  },
  {
    rule: 'a bag as a suffix',
    path: 'src/query/time-helpers.ts',
    text: caption,
    violation: '"time-helpers" says nothing',
  },
  {
    rule: 'a bag as a folder',
    path: 'src/query/common/time.ts',
    text: caption,
    violation: '"common" says nothing',
  },
  {
    rule: 'a barrel',
    path: 'src/query/index.ts',
    text: caption,
    violation: '"index" says nothing',
  },
  {
    rule: 'a file of types',
    path: 'src/query/types.ts',
    text: caption,
    violation: '"types" says nothing',
  },
  { rule: 'device types', path: 'src/model/device-type.ts', text: caption },
  {
    rule: 'capitals',
    path: 'src/model/deviceType.ts',
    text: caption,
    violation: 'not in lower-case words',
  },
  { rule: 'interface sections', path: 'tests/interface/4.8-run-script.test.ts', text: caption },
  {
    rule: 'a folder without row',
    path: 'src/gadgets/gear.ts',
    text: caption,
    violation: 'src/gadgets has no row',
  },
  {
    rule: 'a stranger at the root',
    path: 'src/server.ts',
    text: caption,
    violation: 'are at the root of src',
  },
  {
    rule: 'environment',
    path: 'src/http/edge/server.ts',
    text: code('export const p = process.env;'),
    violation: ':2: only src/app/config/config.ts',
  },
  {
    rule: 'environment by index',
    path: 'src/main.ts',
    text: code("export const p = process['env'];"),
    violation: 'only src/app/config/config.ts',
  },
  {
    rule: 'environment by parts',
    path: 'src/main.ts',
    text: code('const { env } = process;'),
    violation: 'only src/app/config/config.ts',
  },
  {
    rule: 'environment by name',
    path: 'src/main.ts',
    text: code("import { env } from 'node:process';"),
    violation: 'only src/app/config/config.ts',
  },
  {
    rule: 'environment in config',
    path: 'src/app/config/config.ts',
    text: code('export const p = process.env;'),
  },
  {
    rule: 'a clock in a stage',
    path: 'src/query/kpi.ts',
    text: code('export const n = Date.now();'),
    violation: 'reads no clock',
  },
  {
    rule: 'a new date in a stage',
    path: 'src/live/sessions/session.ts',
    text: code('export const n = new Date();'),
    violation: 'reads no clock',
  },
  {
    rule: 'review bug B8: a clock as the default of a parameter in a stage',
    path: 'src/outputs/connectors/chat.ts',
    text: code('export const f = (now = Date.now) => now();'),
    violation: 'reads no clock',
  },
  {
    rule: 'a date of something',
    path: 'src/live/sessions/session.ts',
    text: code('export const n = new Date(0);'),
  },
  {
    rule: 'a clock elsewhere',
    path: 'src/uplinks/uplink.ts',
    text: code('export const n = Date.now();'),
  },
  {
    rule: 'printing in a stage',
    path: 'src/rules/evaluation/logic.ts',
    text: code("console.log('x');"),
    violation: 'does not log',
  },
  {
    rule: 'stderr in a stage',
    path: 'src/access/keys.ts',
    text: code("process.stderr.write('x');"),
    violation: 'does not log',
  },
  {
    rule: 'unfinished work',
    path: 'src/model/sample.ts',
    text: code('export {}; // TODO later'),
    violation: ':2: unfinished work',
  },
  {
    rule: 'unfinished work before a brace',
    path: 'src/model/sample.ts',
    text: code('{\n// FIXME\n}'),
    violation: ':3: unfinished',
  },
  {
    rule: 'unfinished work with its issue',
    path: 'src/model/sample.ts',
    text: code('export {}; // TODO #12: later'),
  },
  {
    rule: 'the word in a string',
    path: 'src/model/sample.ts',
    text: code("export const a = '// TODO';"),
  },
  {
    rule: 'only',
    path: 'src/model/a.test.ts',
    text: code("test.only('x', () => {});"),
    violation: ':2: .only',
  },
  {
    rule: 'skip',
    path: 'src/model/a.test.ts',
    text: code("describe.skip('x', () => {});"),
    violation: '.skip',
  },
  {
    rule: 'skip as a value',
    path: 'src/model/a.test.ts',
    text: code('const t = a ? test : test.skip;'),
    violation: '.skip',
  },
  {
    rule: 'announced tests',
    path: 'src/model/a.test.ts',
    text: code("it.todo('x');"),
    violation: '.todo',
  },
  {
    rule: 'skip of a query',
    path: 'src/model/a.test.ts',
    text: code('expect(scan.skip).toBe(0);'),
  },
  {
    rule: 'behaviour 24: a program that the preflight would not start',
    path: 'tools/build.ts',
    text: code('if (import.meta.main) await main();'),
    violation: ':2: import.meta.main is false',
  },
  { rule: 'a decision record', path: 'docs/decisions/0001-title.md', text: record },
  {
    rule: 'a long record',
    path: 'docs/decisions/0001-title.md',
    text: record + 'x\n'.repeat(60),
    violation: 'at most 60',
  },
  {
    rule: 'a gap in records',
    path: 'docs/decisions/0002-title.md',
    text: record,
    violation: 'the next number is 0001',
  },
  {
    rule: 'a record without context',
    path: 'docs/decisions/0001-title.md',
    text: record.replace('## Context', ''),
    violation: '## Context',
  },
  {
    rule: 'a record without a status',
    path: 'docs/decisions/0001-title.md',
    text: record.replace('Status: accepted.', ''),
    violation: 'line 3 of a decision record is its status',
  },
  {
    rule: 'a record with a status of its own',
    path: 'docs/decisions/0001-title.md',
    text: record.replace('accepted', 'proposed'),
    violation: 'line 3 of a decision record is its status',
  },
  {
    rule: 'a record that a missing one replaces',
    path: 'docs/decisions/0001-title.md',
    text: record.replace('accepted', 'replaced by [2](0002-other.md)'),
    violation: '0002-other.md is not a later decision record',
  },
  {
    rule: 'a badly named record',
    path: 'docs/decisions/notes.md',
    text: record,
    violation: 'NNNN-title.md',
  },
];

for (const { rule, path, text, violation } of cases)
  test(`${rule} is ${violation === undefined ? 'fine' : 'caught'}`, () => {
    const found = tidyViolations(plantedProject({ [path]: text })).map(violationText);
    if (violation === undefined) expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringContaining(violation)]);
    for (const line of found) expect(line).toContain(path);
  });

test('a document names only paths that exist', () => {
  const root = plantedProject({
    'src/model/sample.ts': lines(3),
    'docs/guide.md':
      'See `src/model/sample.ts`, `src/model/`, `src/<name>/a.ts`\nand `src/gone.ts`.\n',
    'CHANGELOG.md': 'Removed `src/gone.ts`.\n',
  });
  expect(tidyViolations(root).map(violationText)).toEqual([
    'docs/guide.md:2: src/gone.ts does not exist',
  ]);
});

test('a later record can replace or change an earlier one', () => {
  const second = record.replace('# 1.', '# 2.');
  for (const status of ['replaced by [2](0002-b.md)', 'accepted, changed by [2](0002-b.md)']) {
    const root = plantedProject({
      'docs/decisions/0001-a.md': record.replace('accepted', status),
      'docs/decisions/0002-b.md': second,
    });
    expect(tidyViolations(root).map(violationText)).toEqual([]);
  }
});

test('an earlier record cannot replace a later one', () => {
  const root = plantedProject({
    'docs/decisions/0001-a.md': record,
    'docs/decisions/0002-b.md': record.replace('accepted', 'replaced by [1](0001-a.md)'),
  });
  expect(tidyViolations(root).map(violationText)).toEqual([
    expect.stringContaining('0001-a.md is not a later decision record'),
  ]);
});

test('a runtime dependency without a decision record is a violation', () => {
  const root = plantedProject({
    'package.json': '{"dependencies":{"fastify":"5.0.0","left-pad":"1.0.0"}}',
    'docs/decisions/0001-title.md': record.replace(
      'B.',
      '`fastify` serves HTTP, left-pad is not quoted.',
    ),
  });
  expect(tidyViolations(root).map(violationText)).toEqual([
    'package.json: no decision record names the dependency left-pad',
  ]);
});

const interfaceDocuments = {
  'docs/interface/interface.md': '# Interface\n\n## 4. Endpoints\n\n### 4.4 Queries\n',
  'docs/interface/contract/data.md': '# Data\n\n## 18. Capture\n',
};

for (const [what, path, text, found] of [
  ['section in a caption', 'src/query/kpi.ts', '// Queries of a device (interface 4.4).\n', []],
  [
    'missing section in a caption',
    'src/query/kpi.ts',
    '// Queries of a device (interface 4.4, contract 18, 35).\n',
    ['src/query/kpi.ts:1: contract 35 is not a section of docs/interface/'],
  ],
  [
    'missing section in the title of a test',
    'src/query/kpi.test.ts',
    code("test('interface 4.4 and 4.9: answers', () => {});"),
    ['src/query/kpi.test.ts:2: interface 4.9 is not a section of docs/interface/'],
  ],
  [
    'missing section in a message',
    'src/query/kpi.ts',
    code("export const message = 'see contract, decisions and section 36';"),
    ['src/query/kpi.ts:2: contract 36 is not a section of docs/interface/'],
  ],
  [
    'missing section in a document',
    'docs/operating.md',
    '# Operating\n\nAs in contract 17 to 18.\n',
    ['docs/operating.md:3: contract 17 is not a section of docs/interface/'],
  ],
  ['number after a colon', 'src/query/kpi.ts', code('// The contract: 201 or 400.'), []],
] as const)
  test(`citations: a ${what} gives ${found.length} violations`, () => {
    const root = plantedProject({ ...interfaceDocuments, [path]: text });
    expect(tidyViolations(root).map(violationText)).toEqual(found);
  });

test('the code map has one line per file with its caption, product first, without tests', () => {
  const root = plantedProject({
    'tools/build.ts': caption,
    'src/model/sample.ts': '// A sample: one stored measurement.\n',
    'src/model/sample.test.ts': caption,
  });
  expect(codeMap(projectFiles(root))).toMatch(
    /^# Code map\n[^]*\n## src\/model\/\n\n- `sample.ts`: A sample: one stored measurement.\n\n## tools\/\n\n- `build.ts`: A file that says what it is for.\n$/,
  );
});

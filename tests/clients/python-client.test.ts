// Python client: installed from its wheel into Debian's Python, with its own tests and the examples of its README.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packPython, type PythonPackage } from '../../tools/pack-python.ts';
import { describeWith } from '../servers/server-tests.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const root = join(import.meta.dirname, '..', '..');
const source = join(root, 'clients', 'python');
const python = '/usr/bin/python3';
const run = promisify(execFile);

// It needs setuptools and wheel too.
describeWith({ path: '/usr/bin/pip3', debianPackage: 'python3-pip' }, 'Python client', () => {
  let world: World;
  let folder: string;
  let built: PythonPackage;
  let pump: TestDevice;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'heliograph-python-test-'));
    built = packPython(root, join(folder, 'dist'));
    const install = ['-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', '--target'];
    execFileSync(python, [...install, join(folder, 'installed'), built.wheel]);
    world = await startWorld();
    pump = await world.device({ name: 'Pump' });
    await world.capture(pump, { temperature: 21.5 });
  }, 240_000);
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const environment = () => ({
    PATH: '/usr/bin:/bin',
    PYTHONPATH: join(folder, 'installed'),
    PYTHONWARNINGS: 'error',
    HELIOGRAPH_URL: world.base,
    HELIOGRAPH_API_KEY: world.apiKey,
    PYTHONUTF8: '1',
    DEVICE_ID: pump.deviceId,
    WORKSPACE_ID: world.workspaceId,
    PYTHONDONTWRITEBYTECODE: '1',
  });

  test('both packages contain the license, the types mark and nothing of the tests', () => {
    const list = 'import sys, zipfile; print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))';
    const names = execFileSync(python, ['-c', list, built.wheel], { encoding: 'utf8' });
    expect(names).toContain('heliograph/py.typed');
    expect(names).toMatch(/LICENSE/);
    expect(names).not.toMatch(/test/);
    const sources = execFileSync('tar', ['-tzf', built.sourcePackage], { encoding: 'utf8' });
    expect(sources).toMatch(/src\/heliograph\/client.py/);
    const metadata = 'from importlib.metadata import requires; print(requires("heliograph"))';
    const needed = execFileSync(python, ['-c', metadata], { env: environment(), encoding: 'utf8' });
    expect(needed.trim()).toBe('None');
  });

  test('the sources are Python 3.9', () => {
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.py'))
      .map((name) => join(source, name));
    expect(files.length).toBeGreaterThan(8);
    const check =
      'import ast, sys; [ast.parse(open(name).read(), name, feature_version=(3, 9)) for name in sys.argv[1:]]';
    execFileSync(python, ['-c', check, ...files]);
  });

  test('its own tests', async () => {
    const args = ['-m', 'unittest', 'discover', '--start-directory', join(source, 'tests')];
    const { stderr } = await run(python, args, { cwd: folder, env: environment() });
    expect(stderr).toMatch(/Ran 2\d tests/);
    expect(stderr).toMatch(/^OK$/m);
  }, 240_000);

  test('the examples of the README', async () => {
    const readme = readFileSync(join(source, 'README.md'), 'utf8');
    const blocks = Array.from(
      readme.matchAll(/^```python\n([^]*?)^```$/gm),
      ([, code = '']) => code,
    );
    expect(blocks.length).toBeGreaterThan(6);
    const path = join(folder, 'examples.py');
    const code = blocks.join('\n');
    writeFileSync(
      path,
      code.replaceAll('http://localhost:8080', world.base).replaceAll('pump-1', pump.deviceId),
    );
    const { stdout } = await run(python, [path], { cwd: folder, env: environment() });
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        'Heliograph',
        "{'temperature': 21.5}",
        'Pump',
        '1000 0 0',
        'Heliograph 1',
        '404 40400_NOT_FOUND',
        'True',
      ]),
    );
  }, 240_000);
});

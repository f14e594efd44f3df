// Files for people who join: the editor, the forms and the workflow say what the project does, and every link leads somewhere.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts;

test('.editorconfig has the indents and the line width of biome.json', () => {
  const { formatter } = JSON.parse(read('biome.json')) as {
    formatter: { indentStyle: string; indentWidth: number; lineWidth: number };
  };
  const settings = read('.editorconfig');
  expect(settings).toContain(`indent_style = ${formatter.indentStyle}`);
  expect(settings).toContain(`indent_size = ${formatter.indentWidth}`);
  expect(settings).toContain(`max_line_length = ${formatter.lineWidth}`);
});

test('every launch configuration starts files that exist', () => {
  const { configurations, inputs } = JSON.parse(read('.vscode/launch.json')) as {
    configurations: { name: string; program: string; args: string[]; preLaunchTask?: string }[];
    inputs: { default: string }[];
  };
  const { tasks } = JSON.parse(read('.vscode/tasks.json')) as {
    tasks: { label: string; script: string }[];
  };
  expect(configurations).toHaveLength(4);
  for (const { program, args, preLaunchTask } of configurations) {
    const paths = [program, ...args]
      .map((path) => path.replace('${workspaceFolder}/', ''))
      .map((path) => path.replace('${input:journey}', inputs[0]!.default))
      .filter((path) => path.includes('/') && !path.startsWith('$'));
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    if (preLaunchTask !== undefined)
      expect(tasks.map(({ label }) => label)).toContain(preLaunchTask);
  }
  expect(tasks.filter(({ script }) => scripts[script] === undefined)).toEqual([]);
});

test('every package has the version of package.json', () => {
  const version = (path: string) => (JSON.parse(read(path)) as { version: string }).version;
  const python = /^version = "(.*)"$/m.exec(read('clients/python/pyproject.toml'))?.[1];
  expect([
    version('package-lock.json'),
    version('clients/typescript/package.json'),
    python,
  ]).toEqual(Array(3).fill(version('package.json')));
});

test('the workflow runs .ci/run as root of Debian 12, on a Node that begins', () => {
  const { jobs } = parse(read('.github/workflows/ci.yml')) as {
    jobs: Record<string, { container: { image: string }; steps: Record<string, unknown>[] }>;
  };
  const [job] = Object.values(jobs);
  expect(job!.container.image).toBe('debian:12');
  expect(job!.steps.at(-1)).toEqual({ run: '.ci/run' });
  expect(job!.steps).toContainEqual(expect.objectContaining({ with: { 'node-version': 20 } }));
});

test('the forms of issues have what the host requires', () => {
  const folder = '.github/ISSUE_TEMPLATE';
  const forms = readdirSync(join(root, folder)).filter((name) => name !== 'config.yml');
  expect(forms.toSorted()).toEqual(['bug_report.yml', 'feature_request.yml']);
  for (const form of forms) {
    const { name, description, body } = parse(read(`${folder}/${form}`)) as {
      name: string;
      description: string;
      body: { type: string; id?: string; attributes: { label?: string } }[];
    };
    expect([name, description]).toEqual([expect.any(String), expect.any(String)]);
    const asked = body.filter(({ type }) => type !== 'markdown');
    const ids = asked.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { attributes } of asked) expect(attributes.label).toMatch(/^[A-Z]/);
  }
});

test('links of the documents at the root and of examples lead to files that exist', () => {
  const documents = globSync(['*.md', '.github/*.md', 'examples/**/*.md'], { cwd: root });
  expect(documents).toContain('SECURITY.md');
  const broken = documents.flatMap((document) =>
    Array.from(read(document).matchAll(/\]\(([^)#\s]+)[^)]*\)/g), ([, target = '']) => target)
      .filter((target) => !/^https?:/.test(target))
      .filter((target) => !existsSync(join(root, dirname(document), target)))
      .map((target) => `${document}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test('commands of the documents at the root are scripts of package.json', () => {
  const documents = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    '.github/pull_request_template.md',
  ];
  const named = documents.flatMap((document) =>
    Array.from(read(document).matchAll(/\bnpm run ([a-z-]+)/g), ([, script = '']) => script),
  );
  expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
});

// Example of Compose: settings that exist, and the image, volume, ports and versions that the documents name.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/app/config/config.ts';
import { composeFile, composeServices, filled } from './compose-files.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const alone = composeFile('compose.yaml');
const databases = composeFile('compose.databases.yaml');
const { environment } = composeServices('compose.databases.yaml').heliograph;
const secret = 'f'.repeat(64);

test('every variable is a setting, and the platform takes the values', () => {
  const names: string[] = [];
  const seen = new Proxy<Record<string, string>>(
    {},
    {
      get: (_, name) => {
        names.push(String(name));
        return undefined;
      },
    },
  );
  readConfig(seen);
  expect(Object.keys(environment).filter((name) => !names.includes(name))).toEqual([]);
  const values = Object.entries(environment).map(([name, value]) => [name, filled(value, secret)]);
  expect(readConfig(Object.fromEntries(values) as Record<string, string>)).toMatchObject({
    recordsUrl: `postgres://heliograph:${secret}@postgres:5432/heliograph`,
    samplesUrl: `http://heliograph:${secret}@clickhouse:8123/heliograph`,
    publicUrl: 'http://localhost:8080',
  });
});

test('image, volume, ports and restrictions are those of docs/install.md', () => {
  const command = /^docker run ([^]*?)\n(?!\s)/m.exec(read('docs/install.md'))![1]!;
  const values = (option: string) =>
    Array.from(command.matchAll(new RegExp(`${option} (\\S+)`, 'g')), ([, value]) => value);
  const service = alone.services['heliograph']!;
  expect(command.trim().split(/\s+/).at(-1)).toBe(service.image);
  expect(service).toMatchObject({
    ports: values('-p'),
    volumes: values('-v'),
    stop_grace_period: `${values('--stop-timeout')[0]}s`,
    cap_drop: ['ALL'],
    read_only: true,
    security_opt: values('--security-opt'),
  });
  expect(read('docs/install.md')).toContain(`docker build -t ${service.image} .packages/container`);
});

test('every named volume is declared, and no port of a database is published', () => {
  for (const { services, volumes } of [alone, databases])
    for (const [name, service] of Object.entries(services)) {
      const used = (service.volumes ?? []).map((volume) => volume.split(':')[0]!);
      expect(used.filter((volume) => !(volume in volumes))).toEqual([]);
      if (name !== 'heliograph') expect(service.ports).toBeUndefined();
    }
});

test('the servers are of versions that docs/operating.md says are tested', () => {
  const operating = read('docs/operating.md');
  const version = (name: string) => databases.services[name]!.image.split(':')[1]!;
  expect(operating).toContain(`PostgreSQL ${version('postgres')} or newer`);
  expect(operating).toContain(`a current version (${version('clickhouse')},`);
});

test('every value that has no default is one that the README generates', () => {
  const needed = new Set(
    Array.from(
      read('examples/compose/compose.databases.yaml').matchAll(/\$\{(\w+):\?/g),
      (m) => m[1]!,
    ),
  );
  const generated = /for name in ([A-Z_ ]+);/.exec(read('examples/compose/README.md'))![1]!;
  expect([...needed].toSorted()).toEqual(generated.split(' ').toSorted());
});

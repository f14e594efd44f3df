// Software bill of materials: the packages that a release contains, in CycloneDX, as npm writes it from the lock file.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLockFile } from '../lock-file.ts';
import { consoleFonts } from '../third-party-notices.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly scope?: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

export interface BillOfMaterials {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

const development = 'cdx:npm:package:development';

/**
 * Returns the bill of the project at `root`, whose console must be built. It has the packages of the
 * platform with Node itself, and those that are bundled into the console, which for npm are only
 * development. Throws what npm says, and when npm does not list a package.
 */
export function billOfMaterials(root: string): BillOfMaterials {
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--include=dev'];
  const output = execFileSync('npm', [...args, '--package-lock-only'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const all = JSON.parse(output) as BillOfMaterials;
  const inConsole = new Set(consolePackages(root));
  const contained = new Set([...platformPackages(root), ...inConsole]);
  const components = all.components.filter((component) => contained.has(component['bom-ref']));
  const found = new Set(components.map((component) => component['bom-ref']));
  const missing = [...contained].filter((name) => !found.has(name));
  if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}`);
  const project = all.metadata.component;
  return {
    ...all,
    // npm names it after the folder.
    metadata: { ...all.metadata, component: { ...project, name: 'heliograph' } },
    components: components.map((one) => (inConsole.has(one['bom-ref']) ? required(one) : one)),
    dependencies: all.dependencies
      .filter(({ ref }) => found.has(ref) || ref === project['bom-ref'])
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((to) => found.has(to)) })),
  };
}

function required(component: Component): Component {
  const properties = component.properties?.filter(({ name }) => name !== development) ?? [];
  return { ...component, scope: 'required', properties };
}

/** `name@version` of what `npm install` of the packed package installs. */
function platformPackages(root: string): string[] {
  return Object.entries(readLockFile(root).packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version = '' }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`);
}

/** `name@version` of what the bundler put into the console, and of its fonts. */
function consolePackages(root: string): string[] {
  const { packages } = readLockFile(root);
  const bundled = readFileSync(join(root, 'console', 'dist', '.vite', 'license.md'), 'utf8');
  return [
    ...Array.from(bundled.matchAll(/^## (\S+) - (\S+) \(/gm), ([, name, at]) => `${name}@${at}`),
    ...consoleFonts.map((name) => `${name}@${packages[`node_modules/${name}`]?.version}`),
  ];
}

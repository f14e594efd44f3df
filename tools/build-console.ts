// `npm run build-console`: writes console/dist/, which the platform serves at `/`; `npm ci` runs it too.
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '..');

// After `npm ci --omit=dev` there is nothing to build with; a packed package has its console built.
if (findPackageJSON('vite', import.meta.url) === undefined) {
  console.log('console not built: the development packages are not installed');
} else {
  const { buildConsole } = await import('./console-output.ts');
  const startedAt = performance.now();
  const files = await buildConsole(root);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(`console/dist/ written: ${files} files in ${seconds} s\n`);
}

// `npm run bundle`: bundles the program that `npm start` runs; `npm ci` does it too.
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

// After `npm ci --omit=dev` there is nothing to bundle with; the sources run as they are.
if (findPackageJSON('vite', import.meta.url) === undefined) {
  console.log('program not bundled: the development packages are not installed');
} else {
  const { bundleProgram } = await import('./program-output.ts');
  const { sources } = await bundleProgram(root, join(root, '.program'));
  console.log(`.program/ written: ${sources} source files`);
}

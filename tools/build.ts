// `npm run build`: writes dist/, which runs without type stripping and therefore also from inside node_modules.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyAssets, pointUrlsAtJavaScript } from './build-output.ts';
import { runInstalled } from './installed-program.ts';

const root = join(import.meta.dirname, '..');
const output = join(root, 'dist');

rmSync(output, { recursive: true, force: true });
const compiled = runInstalled('typescript', 'tsc', ['--project', 'tsconfig.build.json'], root);
if (compiled.succeeded) {
  const rewritten = pointUrlsAtJavaScript(output);
  const copied = copyAssets(join(root, 'src'), output);
  console.log(
    `dist/ written: ${rewritten} file addresses pointed at JavaScript, ${copied} other files copied`,
  );
} else {
  console.error(compiled.output);
  process.exitCode = 1;
}

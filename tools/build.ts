// `npm run build`: writes dist/, which runs without type stripping and therefore also from inside node_modules.
import { join } from 'node:path';
import { writeOutput } from './build-output.ts';

const root = join(import.meta.dirname, '..');
const { succeeded, output } = await writeOutput(root, join(root, 'dist'));

if (succeeded) console.log(`dist/ written: ${output}`);
else {
  console.error(output);
  process.exitCode = 1;
}

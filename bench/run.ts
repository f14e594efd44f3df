// `npm run bench -- NAME [ARGUMENTS]`: runs bench/NAME.ts; without a name it lists the benches with their captions.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
// A bench is one file of this folder; what benches share is in folders below.
const benches = readdirSync(folder)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'run.ts')
  .map((name) => name.slice(0, -'.ts'.length));
const [name, ...args] = process.argv.slice(2);

function captionOf(bench: string): string {
  return (
    readFileSync(join(folder, `${bench}.ts`), 'utf8')
      .split('\n', 1)[0]
      ?.replace(/^\/\/ /, '') ?? ''
  );
}

if (name !== undefined && benches.includes(name)) {
  process.argv.splice(1, process.argv.length, join(folder, `${name}.ts`), ...args);
  await import(`./${name}.ts`);
} else {
  if (name !== undefined) console.error(`Unknown bench "${name}".`);
  console.log(
    [
      'usage: npm run bench -- NAME [ARGUMENTS]',
      ...benches.map((bench) => `  ${bench}: ${captionOf(bench)}`),
    ].join('\n'),
  );
  process.exitCode = name === undefined ? 0 : 2;
}

// What counts as used: everything reachable from the program, its workers, the tests, the benches and the tools.
import type { KnipConfig } from 'knip';
import { existsSync } from 'node:fs';

// Without a composition root nothing is reachable yet, so every file is taken as its own entry.
const composed = existsSync(new URL('src/main.ts', import.meta.url));

export default {
  entry: [composed ? 'src/main.ts' : 'src/**/*.ts', 'bench/*.ts', 'tools/*.ts', 'bin/*.{js,ts}'],
  project: ['src/**/*.ts', 'tests/**/*.ts', 'bench/**/*.ts', 'tools/**/*.ts', 'bin/*.{js,ts}'],
  ignoreExportsUsedInFile: { interface: true, type: true },
  // Benches install the databases they compare with from Debian.
  ignoreBinaries: ['apt-get'],
  exclude: composed ? [] : ['dependencies'],
} satisfies KnipConfig;

// What counts as used: everything reachable from the program, its workers, the tests, the benches and the tools.
import type { KnipConfig } from 'knip';

export default {
  entry: [
    'src/main.ts',
    'clients/command-line/command.ts',
    'clients/typescript/client.ts',
    'clients/file-backfill/command.ts',
    'clients/simulate/command.ts',
    'tests/load/kill-platform.ts',
    // The runner starts it with SAMPLES=clickhouse.
    'tests/servers/samples-server.ts',
    'tests/load/*-child.ts',
    'tests/servers/*-child.ts',
    'tests/world/*-child.ts',
    'bench/*.ts',
    'tools/*.ts',
    'bin/*.{js,ts}',
    'console/src/main.tsx',
    'console/vite.config.ts',
    'console/public/theme.js',
    'console/journeys/pictures.ts',
  ],
  project: [
    'src/**/*.ts',
    'clients/**/*.ts',
    '!clients/typescript/generated/**',
    'tests/**/*.ts',
    'bench/**/*.ts',
    'tools/**/*.ts',
    'bin/*.{js,ts}',
    'console/{src,journeys,public}/**/*.{ts,tsx,js}',
    'console/*.ts',
  ],
  // A migration's `up` is reached through the table of migrations.
  ignoreIssues: { 'src/storage/records/migrations/*.ts': ['exports', 'nsExports'] },
  ignoreExportsUsedInFile: { interface: true, type: true },
  // Programs that tests and tools run; .ci/run installs them.
  ignoreBinaries: [
    'mosquitto_passwd',
    'unshare',
    'mkfifo',
    'gcc',
    'strip',
    'buildah',
    'systemd-analyze',
    'sha256sum',
  ],
  // tools/check.ts runs these by name; the linter finds its type-aware part by itself.
  ignoreDependencies: [
    '@biomejs/biome',
    'oxlint',
    'typescript-7',
    'oxlint-tsgolint',
    // Named by a style sheet, and read as text by a test.
    '@fontsource-variable/geist',
    '@fontsource-variable/geist-mono',
    'axe-core',
  ],
} satisfies KnipConfig;

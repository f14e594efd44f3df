// Build settings of the console: static files without inline code, so that the strict content policy holds.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const basePackages =
  /node_modules\/(react|react-dom|scheduler|@tanstack|openapi-fetch|use-sync-external-store)\//;
/** Members of those packages that only some screens use. */
const laterModules = /queriesObserver|useQueries/;

const codePackages = /node_modules\/(@codemirror|@lezer|crelt|style-mod|w3c-keyname|@marijn)\//;

/** What every screen needs and what changes rarely: one request, kept by browsers for long. */
const isBase = (id: string) => basePackages.test(id) && !laterModules.test(id);

/** What the frame of every screen needs: one chunk compresses better than ten small ones. */
const frameFiles =
  /\/(watched-value|stream|use-stream|answers|platform|session|permissions|language|connection|missing-code)\.tsx?$/;
const isFrame = (id: string) => id.includes('console/src/') && frameFiles.test(id);

/**
 * Chunks that are asked for together with a screen. The names of all others would be a tenth of the
 * first load; small ones follow in one more round trip, and most are there from screens before.
 */
const worthPreloading = (
  _file: string,
  dependencies: string[],
  { hostType }: { hostType: string },
) =>
  hostType === 'html'
    ? dependencies
    : dependencies.filter((name) => /\.css$|charts-|code-/.test(name));

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  plugins: [react()],
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    modulePreload: { polyfill: false, resolveDependencies: worthPreloading },
    // A file within a `data:` address is refused by the content policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    sourcemap: false,
    // Borders of countries are one chunk, loaded with the map alone; the budgets are a test.
    chunkSizeWarningLimit: 1_000,
    license: true,
    // Which chunks a screen loads, for the budgets; not served.
    manifest: true,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'base', test: isBase },
            { name: 'frame', test: isFrame },
            { name: 'charts', test: /node_modules\/uplot\// },
            { name: 'code', test: codePackages },
          ],
        },
      },
    },
  },
});

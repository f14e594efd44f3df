#!/usr/bin/env node
// The command of the installed package: starts the built platform on the pinned Node.
import { existsSync } from 'fs';
import { join } from 'path';
import { root, runPinned } from './pinned-node.js';

const program = join(root, 'dist', 'src', 'main.js');

if (!existsSync(program)) {
  console.error(
    'Heliograph is not built yet: run "npm run build" first, or "npm start" to run it from source.',
  );
  process.exit(1);
}
runPinned(program, process.argv.slice(2), []);

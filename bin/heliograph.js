#!/usr/bin/env node
// The command of the installed package: the built platform, or a command for a running one, on the pinned Node.
import { existsSync } from 'fs';
import { join } from 'path';
import { root, runPinned } from './pinned-node.js';
import { isPlatformCommand } from './platform-words.js';

const words = process.argv.slice(2);
const parts = isPlatformCommand(words)
  ? ['src', 'main.js']
  : ['clients', 'command-line', 'command.js'];
const program = join(root, 'dist', ...parts);

if (!existsSync(program)) {
  console.error(
    'Heliograph is not built yet: run "npm run build" first, or "npm start" to run it from source.',
  );
  process.exit(1);
}
runPinned(program, words, []);

// Preflight: runs a program of this project on the pinned Node, independent of the Node on the PATH.
import { runPinned } from './pinned-node.js';

const words = process.argv.slice(2);
const programAt = words.findIndex((word) => !word.startsWith('-'));

if (programAt === -1) {
  console.error('usage: node bin/preflight.js [NODE OPTIONS] PROGRAM [ARGUMENTS]');
  process.exit(2);
}
runPinned(words[programAt], words.slice(programAt + 1), words.slice(0, programAt));

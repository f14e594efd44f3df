// Starts the platform with the demo workspace: simulated devices whose payloads go through real decoders all the time.
import { join } from 'path';
import { root, runPinned } from './pinned-node.js';
import { programOf } from './program.js';

process.env.DEMO = '1';
// The demo's own requests would bury the commands to try.
if (!process.env.LOG_LEVEL) process.env.LOG_LEVEL = 'warn';
// A separate folder, so that the demo never mixes with real data.
if (!process.env.DATA_DIR) process.env.DATA_DIR = join(root, 'data-demo');
runPinned(programOf(root), process.argv.slice(2), []);

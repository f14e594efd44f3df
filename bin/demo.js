// Starts the platform with the demo workspace: simulated devices whose payloads go through real decoders all the time.
import { join } from 'path';
import { root, runPinned } from './pinned-node.js';

process.env.DEMO = '1';
runPinned(join(root, 'src', 'main.ts'), process.argv.slice(2), []);

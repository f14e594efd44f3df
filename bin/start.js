// `npm start`: starts the platform on the pinned Node.
import { root, runPinned } from './pinned-node.js';
import { programOf } from './program.js';

runPinned(programOf(root), process.argv.slice(2), []);

// JSON fault worker: says what is wrong with a long text in the words of the parser, which reads it in one go.
import { parentPort, workerData } from 'node:worker_threads';
import { parseJsonText } from './json-text.ts';

const { bytes } = workerData as { readonly bytes: Uint8Array };
let message: string | undefined;
try {
  parseJsonText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
} catch (error) {
  message = (error as Error).message;
}
parentPort?.postMessage(message);

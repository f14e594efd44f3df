// JSON fault worker: returns the parser's message for a long document, because the parser does not yield.
import { parentPort, workerData } from 'node:worker_threads';
import { parseJsonText } from './json-keys.ts';

const { bytes } = workerData as { readonly bytes: Uint8Array };
let message: string | undefined;
try {
  parseJsonText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
} catch (error) {
  message = (error as Error).message;
}
parentPort?.postMessage(message);

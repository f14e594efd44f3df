// Document worker: draws PDF files on a thread, because one takes hundreds of milliseconds.
import { parentPort, workerData } from 'node:worker_threads';
import { missing } from '../structures/missing.ts';
import type { DrawingAnswer, DrawingQuestion } from './document-thread.ts';
import { writePdf } from './pdf.ts';

const port = parentPort ?? missing('port to the parent thread');
const { fonts } = workerData as { readonly fonts: string | undefined };

port.on('message', (question: DrawingQuestion) => void answer(question));

async function answer({ id, document }: DrawingQuestion): Promise<void> {
  const answered = await writePdf(document, fonts).then(
    (pdf): DrawingAnswer => ({ id, pdf }),
    (error: unknown): DrawingAnswer => ({
      id,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }),
  );
  port.postMessage(answered);
}

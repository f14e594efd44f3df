// Document worker: draws PDF files and pictures on a thread, because one takes hundreds of milliseconds.
import { parentPort, workerData } from 'node:worker_threads';
import { missing } from '../../structures/missing.ts';
import type { DrawingAnswer, DrawingQuestion } from './document-thread.ts';
import type { DashboardDocument } from './document.ts';
import { chartPictures } from './picture.ts';
import { writePdf } from './pdf.ts';

const port = parentPort ?? missing('port to the parent thread');
const { fonts } = workerData as { readonly fonts: string | undefined };

port.on('message', (question: DrawingQuestion) => void answer(question));

async function answer({ id, document, wanted }: DrawingQuestion): Promise<void> {
  const answered = await drawn(document, wanted).then(
    (drawing): DrawingAnswer => ({ id, ...drawing }),
    (error: unknown): DrawingAnswer => ({
      id,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }),
  );
  port.postMessage(answered);
}

async function drawn(document: DashboardDocument, wanted: DrawingQuestion['wanted']) {
  if (wanted === 'pictures') return { pictures: chartPictures(document, fonts) };
  return { pdf: await writePdf(document, fonts) };
}

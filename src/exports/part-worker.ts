// Part worker: encodes parts of Parquet files on a thread, because a part takes hundreds of milliseconds.
import { parentPort } from 'node:worker_threads';
import { missing } from '../structures/missing.ts';
import { parquetPart, parquetTail } from './parquet-part.ts';
import type { PartAnswer, PartQuestion } from './part-encoder.ts';

const port = parentPort ?? missing('port to the parent thread');

port.on('message', (question: PartQuestion) => {
  const answer = answerTo(question);
  port.postMessage(answer, 'part' in answer ? [answer.part.bytes.buffer] : []);
});

function answerTo({ id, offset, ...asked }: PartQuestion): PartAnswer {
  try {
    if ('lines' in asked) return { id, part: parquetPart(asked.lines, offset) };
    return { id, part: { bytes: parquetTail(asked.footers, offset), footer: new Uint8Array() } };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

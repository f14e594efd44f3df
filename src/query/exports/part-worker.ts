// Part worker: encodes parts of Parquet and CSV files on a thread, because a part takes hundreds of milliseconds.
import { parentPort } from 'node:worker_threads';
import { missing } from '../../structures/missing.ts';
import { csvPart } from './sample-lines.ts';
import { type ParquetPart, parquetPart, parquetTail } from './parquet-part.ts';
import type { PartAnswer, PartQuestion } from './part-encoder.ts';

const port = parentPort ?? missing('port to the parent thread');

port.on('message', (question: PartQuestion) => {
  const answer = answerTo(question);
  port.postMessage(answer, 'part' in answer ? [answer.part.bytes.buffer] : []);
});

type AskedPart = Pick<Extract<PartQuestion, { lines: string }>, 'lines' | 'format'>;

function partOf({ lines, format }: AskedPart, offset: number): ParquetPart {
  if (format === 'parquet') return parquetPart(lines, offset);
  const bytes = new Uint8Array(Buffer.from(csvPart(lines, offset === 0)));
  return { bytes, footer: new Uint8Array() };
}

function answerTo({ id, offset, ...asked }: PartQuestion): PartAnswer {
  try {
    if ('lines' in asked) return { id, part: partOf(asked, offset) };
    return { id, part: { bytes: parquetTail(asked.footers, offset), footer: new Uint8Array() } };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

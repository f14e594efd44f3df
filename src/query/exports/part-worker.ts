// Part worker: encodes parts of Parquet and CSV files on a thread, because a part takes hundreds of milliseconds.
import { parentPort } from 'node:worker_threads';
import { missing } from '../../structures/missing.ts';
import { csvPart } from './sample-lines.ts';
import { type ParquetPart, parquetPart, parquetTail } from './parquet-part.ts';
import type { AskedPart, PartAnswer, PartQuestion } from './part-encoder.ts';

const port = parentPort ?? missing('port to the parent thread');

port.on('message', (question: PartQuestion) => {
  const answer = answerTo(question);
  port.postMessage(answer, 'part' in answer ? [answer.part.bytes.buffer] : []);
});

function answerTo({ id, offset, ...asked }: PartQuestion): PartAnswer {
  try {
    return { id, part: partOf(asked, offset) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

function partOf(asked: AskedPart, offset: number): ParquetPart {
  if ('columns' in asked) return parquetPart(asked.columns, offset);
  const footer = new Uint8Array();
  if ('footers' in asked) return { bytes: parquetTail(asked.footers, offset), footer, samples: 0 };
  const { lines, samples } = asked.lines;
  return { bytes: new Uint8Array(Buffer.from(csvPart(lines, offset === 0))), footer, samples };
}

// Password worker: hashes one password after the other on a thread that nothing else waits for.
import { argon2Sync, type Argon2Parameters } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { missing } from '../structures/missing.ts';

export interface HashQuestion {
  readonly id: number;
  readonly parameters: Argon2Parameters;
}

export interface HashAnswer {
  readonly id: number;
  readonly tag?: Uint8Array;
  readonly error?: string;
}

function answer({ id, parameters }: HashQuestion): HashAnswer {
  try {
    return { id, tag: argon2Sync('argon2id', parameters) };
  } catch (error) {
    return { id, error: String(error) };
  }
}

const port = parentPort ?? missing('port to the parent thread');
port.on('message', (question: HashQuestion) => port.postMessage(answer(question)));

// Chunk worker: makes chunks of sorted rows on its own thread, one job after the other.
import { ShapeInterner } from '../../../log/data-shape.ts';
import { answerJobs } from '../job-thread.ts';
import { type ChunkJob, makeChunks, type MadeChunks } from './chunk-writer.ts';
import { SchemaInterner } from './chunk.ts';

const shapes = new ShapeInterner();
const schemas = new SchemaInterner(shapes);

answerJobs<ChunkJob, MadeChunks>(
  (job) => makeChunks(job, schemas, shapes.fromText),
  (made) => made.flat().map(({ bytes }) => bytes.buffer),
);

// Chunk makers: both threads give the same chunks, and the end of one loses none.
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test, vi } from 'vitest';
import { LeafValues, ShapeInterner } from '../../../log/data-shape.ts';
import { Random, randomStream } from '../../conformance/random-entries.ts';
import { OpenRows } from '../rows/open-rows.ts';
import { type Chunk, SchemaInterner } from './chunk.ts';
import { storeLimits } from '../store-limits.ts';
import { ChunkMakers, type RowsToChunk } from './chunk-builders.ts';

const shapes = new ShapeInterner();
const schemas = new SchemaInterner(shapes);
const failures: unknown[] = [];
const cuts = { rowsMax: 60, rowsToCloseAtDay: 20 };

function makers(chunkRowsAtOnce: number): ChunkMakers {
  const limits = { ...storeLimits, ...cuts, chunkRowsAtOnce };
  return new ChunkMakers(schemas, limits, (error) => failures.push(error));
}

const here = makers(Number.POSITIVE_INFINITY);
const there = makers(0);
afterAll(() => there.close());

const origins = [null, 'flow', 'other'].map((dataFlowId) => ({
  workspaceId: 'w',
  dataFlowId,
  keepFrom: Number.NEGATIVE_INFINITY,
}));

/** Rows of a random stream: late and repeated ones, of several shapes and origins, some with meta. */
function randomRows(seed: number): RowsToChunk {
  const random = new Random(seed);
  const rows = new OpenRows(0, 0, 4);
  const values = new LeafValues();
  const kinds = 1 + random.below(origins.length);
  const hasMetas = random.below(2) === 0;
  let order = 0;
  for (const entry of randomStream(random, 30))
    for (const { at, data } of entry) {
      values.cutBack(0, 0);
      const shape = shapes.shapeOf(data, values, undefined);
      const meta = hasMetas && random.below(3) === 0 ? `{"n":${random.below(3)}}` : undefined;
      const origin = origins[random.below(kinds)]!;
      rows.append({ timestamp: at, order: order++, shape, values, valuesAt: 0, origin, meta });
    }
  const sealedNewest = random.below(2) === 0 ? -Infinity : rows.oldest + random.below(3_600_000);
  return { sorted: rows.sorted(), sealedNewest };
}

function written({ file, offset, length, schema, origins: of, ...known }: Chunk) {
  return { ...known, schema: schema.text, origins: of, bytes: file.read(offset, length) };
}

test('chunks of 60 random streams are the same on either thread', async () => {
  const parts = Array.from({ length: 60 }, (_, seed) => randomRows(seed + 1));
  const expected = await here.make(parts);
  const found = await there.make(parts);
  expect(expected.flat().length).toBeGreaterThan(parts.length);
  expect(found.map((chunks) => chunks.map(written))).toEqual(
    expected.map((chunks) => chunks.map(written)),
  );
  // Retention changes these very objects.
  for (const chunk of found.flat())
    for (const origin of chunk.origins) expect(origins).toContain(origin);
  expect(failures).toEqual([]);
});

test('a thread that ends is reported, its job is done here, and the next job has another thread', async () => {
  const post = vi.spyOn(Worker.prototype, 'postMessage').mockImplementationOnce(function end(
    this: Worker,
  ) {
    void this.terminate();
  });
  const part = randomRows(99);
  const [made] = await there.make([part]);
  post.mockRestore();
  expect(failures.splice(0)).toMatchObject([
    { message: 'The worker thread that makes chunks exited' },
  ]);
  const [expected] = await here.make([part]);
  expect(made?.map(written)).toEqual(expected?.map(written));
  const [again] = await there.make([part]);
  expect(again?.map(written)).toEqual(expected?.map(written));
  expect(failures).toEqual([]);
});

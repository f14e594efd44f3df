// Sparkplug: payloads decoded per second by our reader and by the library of Eclipse Tahu, in turns.
// node bench/sparkplug.ts [--metrics 100] [--rounds 5]
import { parseArgs } from 'node:util';
import proto from 'sparkplug-payload/lib/sparkplugPayloadProto.js';
import sparkplugPayload from 'sparkplug-payload';
import { EdgeNode } from '../src/transports/sparkplug/edge-node.ts';
import { samplesOfReadings } from '../src/transports/sparkplug/metric-readings.ts';
import { readPayload } from '../src/transports/sparkplug/sparkplug-payload.ts';
import { sparkplugTopicOf } from '../src/transports/sparkplug/sparkplug-topic.ts';
import { missing } from '../src/structures/missing.ts';
import { figure, markdownTable, median, publish } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    metrics: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
  },
});
const [metricCount, rounds] = [Number(flags.metrics), Number(flags.rounds)];
const { Payload } = proto.org.eclipse.tahu.protobuf;
const library = sparkplugPayload.get('spBv1.0') ?? missing('library');
const roundMs = 500;

type Metric = Record<string, unknown>;

function bytesOf(metric: (i: number) => Metric): Buffer {
  const metrics = Array.from({ length: metricCount }, (_, i) => metric(i));
  const message = { timestamp: 1_767_571_200_000, seq: 1, metrics };
  return Buffer.from(Payload.encode(message as never).finish());
}

const birth = bytesOf((i) => ({
  name: `Line/Motor ${i}/Temperature`,
  alias: i,
  datatype: 10,
  doubleValue: i + 0.5,
}));
const data = bytesOf((i) => ({
  alias: i,
  datatype: 10,
  timestamp: 1_767_571_200_000,
  doubleValue: i + 0.25,
}));
const topic = (type: string) => sparkplugTopicOf(`spBv1.0/g/${type}/e`) ?? missing('topic');
const [birthTopic, dataTopic] = [topic('NBIRTH'), topic('NDATA')];
const node = new EdgeNode();
node.take(birthTopic, birth, 0);

/** Metrics per second. */
function rate(work: () => void): number {
  const startedAt = performance.now();
  let count = 0;
  while (performance.now() - startedAt < roundMs) {
    work();
    count++;
  }
  return (count * metricCount * 1_000) / (performance.now() - startedAt);
}

const works: Readonly<Record<string, () => void>> = {
  'birth, ours': () => void readPayload(birth),
  'birth, protobufjs': () => void Payload.decode(birth),
  'birth, sparkplug-payload': () => void library.decodePayload(birth),
  'data, ours': () => void readPayload(data),
  'data, protobufjs': () => void Payload.decode(data),
  'data, sparkplug-payload': () => void library.decodePayload(data),
  'data to samples, ours': () => void samplesOfReadings(node.take(dataTopic, data, 0).readings),
};

const rates = new Map<string, number[]>();
for (let round = 0; round < rounds; round++)
  for (const [name, work] of Object.entries(works))
    rates.set(name, [...(rates.get(name) ?? []), rate(work)]);
const medianOf = (name: string) => median(rates.get(name) ?? []);
const rows = Object.keys(works).map((name) => {
  const [kind = ''] = name.split(',');
  const library = `${kind}, protobufjs`;
  const ratio = rates.has(library) ? medianOf(name) / medianOf(library) : Number.NaN;
  return [name, figure(medianOf(name)), figure(ratio)];
});
publish('Sparkplug payloads', [markdownTable(['what', 'metrics/s', 'of protobufjs'], rows)]);

// `npm run simulate`: devices send payloads to a running platform over HTTP, MQTT or CoAP.
import { parseArgs } from 'node:util';
import type { Statistics } from './statistics.ts';
import { lineText, type Shown, summaryText } from './statistics-text.ts';
import { isProtocol, type ProtocolName, protocols } from './senders.ts';
import { deviceNames, setUp } from './setup.ts';
import { simulate } from './simulation.ts';

const usage = `usage: npm run simulate -- --devices N --rate R --protocol http|mqtt|coap (--key API_KEY | --secret UPLINK_SECRET)
         [--url http://localhost:8080] [--port PORT] [--connector ID] [--seconds S] [--in-flight 256]

--devices    how many devices send in turn (10)
--rate       payloads a second of all devices together (10); 0 sends as fast as they are acknowledged
--protocol   http, mqtt (a connection for each device, QoS 1) or coap (confirmable)
--key        an API key: workspace "Simulated devices", connector, device type with decoder, flow and devices are created or found
--secret     an uplink secret instead: devices simulated-<protocol>-00001 and on must be there; MQTT needs --connector too
--url        of the platform; --port is the protocol's, by default the URL's own for http, 1883 for mqtt and 5683 for coap
--seconds    ends by itself; without it Ctrl-C ends it
--in-flight  payloads that are not acknowledged yet, at most`;

const options = {
  devices: { type: 'string', default: '10' },
  rate: { type: 'string', default: '10' },
  protocol: { type: 'string', default: 'http' },
  url: { type: 'string', default: 'http://localhost:8080' },
  port: { type: 'string' },
  key: { type: 'string' },
  secret: { type: 'string' },
  connector: { type: 'string', default: '' },
  seconds: { type: 'string' },
  'in-flight': { type: 'string', default: '256' },
  help: { type: 'boolean', default: false },
} as const;

type Flags = ReturnType<typeof flagsOf>;

class UsageError extends Error {
  override readonly name = 'UsageError';
}

function flagsOf() {
  return parseArgs({ options }).values;
}

function wholeNumber(name: keyof Flags, text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max) {
    throw new UsageError(`Invalid --${name} ${text}: it must be an integer from ${min} to ${max}`);
  }
  return number;
}

interface Plan {
  readonly name: ProtocolName;
  readonly url: URL;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly count: number;
  readonly ratePerSecond: number;
  readonly inFlightMax: number;
  /** Undefined: until the program is interrupted. */
  readonly seconds: number | undefined;
}

/** Throws UsageError for flags that cannot be used. */
function planOf(flags: Flags): Plan {
  const { protocol: name, url: urlText, key, secret } = flags;
  if (!isProtocol(name))
    throw new UsageError(`--protocol ${name} cannot be used: ${Object.keys(protocols).join(', ')}`);
  if (!URL.canParse(urlText))
    throw new UsageError(`--url ${urlText} cannot be used: a URL such as http://localhost:8080`);
  if ((key === undefined) === (secret === undefined))
    throw new UsageError('either --key or --secret is needed');
  const url = new URL(urlText);
  const tls = url.protocol === 'https:' && name !== 'coap';
  const httpPort = Number(url.port || (tls ? 443 : 80));
  const ownPort = name === 'http' ? httpPort : protocols[name].port;
  return {
    name,
    url,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    tls,
    count: wholeNumber('devices', flags.devices, 1, 99_999),
    ratePerSecond: wholeNumber('rate', flags.rate, 0, 1_000_000),
    inFlightMax: wholeNumber('in-flight', flags['in-flight'], 1, 100_000),
    seconds:
      flags.seconds === undefined ? undefined : wholeNumber('seconds', flags.seconds, 1, 1_000_000),
    port: flags.port === undefined ? ownPort : wholeNumber('port', flags.port, 1, 65_535),
  };
}

/** Creates or finds the records with an API key, or uses existing devices with an uplink secret. */
async function setupOf(
  { key, secret = '', url, connector }: Flags,
  { name, count }: Plan,
  signal: AbortSignal,
) {
  if (key === undefined) {
    const devices = deviceNames(count, name);
    return { uplinkSecret: secret, connectorId: connector, devices, made: 0 };
  }
  const { connectivity } = protocols[name];
  return setUp({ url, apiKey: key, connectivity, devices: count, signal });
}

/** Prints one line per step; a terminal shows the last one only. */
function createProgress(isTerminal: boolean) {
  let before: Shown = { sent: 0, acknowledged: 0, seconds: 0 };
  return (figures: Statistics, seconds: number): void => {
    const text = lineText(figures, seconds, before);
    before = { sent: figures.counts.sent, acknowledged: figures.counts.acknowledged, seconds };
    process.stdout.write(isTerminal ? `\r${text}\u001b[K` : `${text}\n`);
  };
}

/** Resolves with true when every payload was acknowledged. */
async function run(flags: Flags, signal: AbortSignal): Promise<boolean> {
  const plan = planOf(flags);
  const { name, host, port, tls, ratePerSecond, inFlightMax, seconds } = plan;
  const { uplinkSecret, connectorId, devices, made } = await setupOf(flags, plan, signal);
  if (made > 0) console.log(`${made} devices made`);
  const sender = await protocols[name]
    .connect({ host, port, tls, uplinkSecret, connectorId, devices, inFlightMax })
    .catch((error: unknown) => {
      throw new Error(
        `no ${name} at ${host}:${port}, --port names another port (${String(error)})`,
      );
    });
  const ends = seconds === undefined ? [signal] : [signal, AbortSignal.timeout(seconds * 1_000)];
  const isTerminal = process.stdout.isTTY;
  const result = await simulate({
    sender,
    devices,
    ratePerSecond,
    inFlightMax,
    signal: AbortSignal.any(ends),
    report: createProgress(isTerminal),
  });
  await sender.close();
  process.stdout.write(`${isTerminal ? '\n' : ''}${summaryText(result)}\n`);
  if (result.figures.counts.acknowledged === 0)
    console.log(
      `nothing was acknowledged by ${name} at ${host}:${port}; --port names another port`,
    );
  return result.figures.counts.errors === 0;
}

async function main(): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  try {
    const flags = flagsOf();
    if (flags.help) return console.log(usage);
    process.exitCode = (await run(flags, stopping.signal)) ? 0 : 1;
  } catch (error) {
    const isUsage =
      error instanceof UsageError ||
      (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
    console.error(
      `simulate: ${error instanceof Error ? error.message : String(error)}${isUsage ? `\n\n${usage}` : ''}`,
    );
    process.exitCode = isUsage ? 2 : 1;
  }
}

await main();

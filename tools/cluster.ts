// `npm run cluster`: a cluster on this machine to try: nodes, PostgreSQL, ClickHouse and ZooKeeper of Debian's packages.
import { existsSync } from 'node:fs';
import { clusterOptions, usage, UsageError } from './cluster/cluster-options.ts';
import {
  type ClusterPart,
  type ClusterParts,
  publicUrlOf,
  refuseMissingPrograms,
  startParts,
} from './cluster/cluster-parts.ts';
import { type ClusterSettings, openSettings } from './cluster/cluster-settings.ts';

const watchEveryMs = 500;

async function run(): Promise<void> {
  const options = clusterOptions(process.argv.slice(2));
  if (options === undefined) {
    console.log(usage);
    return;
  }
  refuseMissingPrograms(existsSync);
  const settings = await openSettings(options);
  const startedAt = performance.now();
  let isReady = false;
  const asked = untilAsked(() => isReady);
  const told = (text: string): void => console.log(`Starting ${text} ...`);
  const cluster = await startParts(options.folder, settings, told);
  isReady = true;
  console.log(readyText(cluster.parts, settings, options.folder, performance.now() - startedAt));
  const ended = await Promise.race([asked, untilOneEnds(cluster)]);
  console.log(ended === undefined ? 'Stopping ...' : `${ended}\nStopping the other parts ...`);
  await cluster.stop();
  process.exit(ended === undefined ? 0 : 1);
}

/**
 * Resolves at Ctrl-C, and when the terminal or the supervisor ends the program. Before the cluster
 * is ready, the program ends, and with it what it has started.
 */
function untilAsked(isReady: () => boolean): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        if (!isReady()) process.exit(130);
        resolve(undefined);
      });
  });
}

/** Resolves with what is known of the first part that ends. */
function untilOneEnds({ parts }: ClusterParts): Promise<string> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const failed = parts.flatMap((part) => failureOf(part) ?? []);
      if (failed.length === 0) return;
      clearInterval(timer);
      resolve(failed.join('\n'));
    }, watchEveryMs);
  });
}

function failureOf({ name, assertAlive }: ClusterPart): string | undefined {
  try {
    assertAlive();
  } catch (error) {
    return `${name} is gone: ${(error as Error).message.trimEnd()}`;
  }
  return undefined;
}

function readyText(
  parts: readonly ClusterPart[],
  settings: ClusterSettings,
  folder: string,
  tookMs: number,
): string {
  const lines = parts
    .toReversed()
    .map(({ name, address, pid }) => `  ${name.padEnd(15)} ${address}  (process ${pid})`);
  return `
The cluster is ready, ${(tookMs / 1_000).toFixed(1)} s after its start.

${lines.join('\n')}

  Platform        ${publicUrlOf(settings)}/
  Owner           admin@localhost, password ${settings.ownerPassword}
  API key         ${settings.apiKey}
  Data            ${folder}

Ctrl-C ends it; the next start on the same folder continues with its data.
`;
}

run().catch((error: unknown) => {
  const isExpected = error instanceof UsageError || error instanceof Error;
  console.error(isExpected ? error.message : error);
  process.exit(error instanceof UsageError ? 2 : 1);
});

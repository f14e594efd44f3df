// Node child: a platform as one node of a cluster, which says its port when it is ready.
import { startPlatform } from '../../src/app/platform.ts';
import type { ClusterConfig } from '../../src/app/config/cluster-settings.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { watchWrapper } from '../../src/app/wrapper-watch.ts';

// Tests choose shorter leases than settings allow.
const { CLUSTER: chosen, ...environment } = process.env;
const read = readConfig(environment);
const cluster = chosen === undefined ? read.cluster : (JSON.parse(chosen) as ClusterConfig);
const platform = await startPlatform(cluster === undefined ? read : { ...read, cluster });
let isStopping = false;

function stop(reason: string): void {
  if (isStopping) return;
  isStopping = true;
  platform.close(reason).then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  process.on(signal, () => stop(signal));
watchWrapper(read.wrapperPid, () => stop('the parent process has exited'));
process.stdout.write(`port ${platform.port}\n`);

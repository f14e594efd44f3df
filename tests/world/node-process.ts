// Node process: one node of a cluster, which tests can kill.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ClusterConfig } from '../../src/app/config/cluster-settings.ts';
import { apiKey } from '../load/platform-process.ts';

export interface NodeProcess {
  readonly port: number;
  /** Ends it without a last word. Resolves when it is gone. */
  kill(): Promise<void>;
}

export interface NodeProcessParts {
  readonly environment: Readonly<Record<string, string>>;
  readonly cluster: ClusterConfig;
}

const child = join(import.meta.dirname, 'node-process-child.ts');

/** Starts it. Throws with its output when it ends before it is ready. */
export async function startNodeProcess(parts: NodeProcessParts): Promise<NodeProcess> {
  const started = spawn(process.execPath, [child], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      COAP_PORT: '0',
      MQTT_PORT: '0',
      MQTT_TLS_PORT: '0',
      LOG_LEVEL: 'error',
      ADMIN_API_KEY: apiKey,
      ADMIN_PASSWORD: 'correct horse battery staple',
      ...parts.environment,
      CLUSTER: JSON.stringify(parts.cluster),
    },
  });
  const killAtExit = (): void => void started.kill('SIGKILL');
  process.once('exit', killAtExit);
  const ended = once(started, 'close').then(() => void process.off('exit', killAtExit));
  let output = '';
  const port = await new Promise<number>((resolve, reject) => {
    const look = (bytes: Buffer): void => {
      output = (output + bytes.toString()).slice(-4_000);
      const ready = /^port (\d+)$/m.exec(output);
      if (ready !== null) resolve(Number(ready[1]));
    };
    started.stdout.on('data', look);
    started.stderr.on('data', look);
    void ended.then(() => reject(new Error(`The node ended before it was ready: ${output}`)));
  });
  return {
    port,
    async kill() {
      started.kill('SIGKILL');
      await ended;
    },
  };
}

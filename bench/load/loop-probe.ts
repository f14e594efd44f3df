// Loop probe: loaded into a platform before its program, tells the longest work of its main thread between two looks at requests.
import { renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

/** Names the file with the figure of the time since the last SIGUSR2, in milliseconds of processor time. */
export const probeVariable = 'LOOP_PROBE_FILE';

const file = process.env[probeVariable];
if (file !== undefined && isMainThread) {
  const spent = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let longest = 0;
  let before = spent();
  setInterval(() => {
    const now = spent();
    longest = Math.max(longest, now - before);
    before = now;
  }, 1).unref();
  process.on('SIGUSR2', () => {
    writeFileSync(`${file}.new`, String(longest));
    renameSync(`${file}.new`, file);
    longest = 0;
  });
}

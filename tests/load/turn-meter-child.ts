// Turn meter, loaded into the process of the platform: prints the longest turn of the event loop.
// Waits on a busy machine say nothing about the program; the processor time of its main thread
// does.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const portFile = process.env['TURN_METER_PORT_FILE'];

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

if (isMainThread && portFile !== undefined) {
  let last = cpuMs();
  let longest = 0;
  // Every turn runs due timers, so about one turn is between two calls.
  setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1).unref();
  const server = createServer((socket) => {
    socket.end(`${longest}\n`);
    longest = 0;
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object')
      writeFileSync(portFile, String(address.port));
  });
  server.unref();
}

// Cable: a TCP connection between browser and platform that a test can cut and repair.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Cable {
  /** Address of the platform through the cable. */
  readonly base: string;
  /** Ends every connection and refuses new ones until `repair`. */
  cut(): void;
  repair(): void;
  close(): Promise<void>;
}

/** Listens on a free port of this machine and passes bytes to the platform at `base`. */
export async function layCable(base: string): Promise<Cable> {
  const port = Number(new URL(base).port);
  const ends = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(port, '127.0.0.1');
    for (const end of [near, far]) {
      ends.add(end);
      end.on('error', () => end.destroy());
      end.on('close', () => {
        ends.delete(end);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
    return undefined;
  });
  const destroyAll = () => {
    for (const end of ends) end.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      destroyAll();
    },
    repair() {
      isCut = false;
    },
    close() {
      destroyAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
